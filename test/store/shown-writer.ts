import { LmdbShownLog } from '../../src/store/lmdb/lmdb-shown-log.ts';

/*
 * Run by shown-log.test.ts as a process of its own: appends impressions from several clients at once and names each on
 * standard output once it is acknowledged, until it is killed.
 */
const log = new LmdbShownLog(process.argv[2]!, { retentionMs: 1e12, bytesMax: 1e9 }, true, 'own');

async function client(userId: string): Promise<void> {
  for (let number = 0; ; number++) {
    const list = { placement: 'home', variant: '', generation: 1, timeMs: 1e12 };
    await log.append([{ userId, timeMs: 1e12 + number, list, itemRows: [number], places: [1] }]);
    process.stdout.write(`${userId} ${number}\n`);
  }
}

for (const userId of ['a', 'b', 'c', 'd']) void client(userId);
