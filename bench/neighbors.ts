// Neighbors: one row on demand, whole tables, and the index for many rows.
// npm run bench:neighbors [-- --smoke] [-- --rows 1000000]
import { parseArgs } from 'node:util';
import { printRows } from './http/statistics.ts';
import { benchIndex } from './neighbors/index-case.ts';
import { benchLive } from './neighbors/live.ts';
import { benchTables } from './neighbors/tables.ts';

const { values: options } = parseArgs({
  options: { smoke: { type: 'boolean', default: false }, rows: { type: 'string', default: '1000000' } },
});
printRows([
  ...(await benchLive(options.smoke ? 20 : 400)),
  ...(await benchTables(options.smoke ? 50 : 1)),
  ...benchIndex(options.smoke ? 2000 : Number(options.rows), options.smoke ? 100 : 2000),
]);
