import { Engine } from '../../src/store/lmdb/tables/engine.ts';

/*
 * Run by write-error-text.test.ts as a process of its own: writes many long values in one transaction, and prints what a
 * commit that fails says.
 */
const [path, bytes] = process.argv.slice(2) as [string, string];
const engine = new Engine(path, 1);
const table = engine.table('values');
try {
  engine.transact(() => {
    for (let at = 0; at < 12; at++) table.put(Buffer.from([1, at]), new Uint8Array(Number(bytes)));
  });
} catch (error) {
  console.log((error as Error).message);
}
process.exit();
