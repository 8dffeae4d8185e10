// The LMDB store against bare LMDB: inserts, an import, the load of the training matrix, bytes on disk.
// npm run bench:store [-- --smoke] [-- --rounds 7] [-- --feedback 1000000]
import { parseArgs } from 'node:util';
import { printRows } from './http/statistics.ts';
import { FULL_SIZE, SMOKE_SIZE } from './http/world.ts';
import { benchImport } from './store/import.ts';
import { benchInsert } from './store/insert.ts';
import { benchFolder } from './store/load.ts';

const { values: options } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '7' },
    feedback: { type: 'string', default: String(FULL_SIZE.feedback) },
  },
});
const size = options.smoke ? SMOKE_SIZE : { ...FULL_SIZE, feedback: Number(options.feedback) };

const rows = [
  await benchInsert(size, 1000),
  await benchInsert(size, 10_000),
  await benchImport(size),
  ...(await benchFolder(size, options.smoke ? 1 : Number(options.rounds))),
];
printRows(rows);
