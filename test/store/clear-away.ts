/** Clears copies in the making out of a folder, again and again, until it is killed: `clear-away.ts FOLDER`. */
import { removeUnfinished } from '../../src/store/lmdb/maintenance/unfinished-copies.ts';

const [folder = ''] = process.argv.slice(2);
console.log('clearing');
for (;;) removeUnfinished(folder);
