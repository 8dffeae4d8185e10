import { DEFAULT_LIMITS } from '../../src/domain/request-limits.ts';
import { openStore, type SyncMode } from '../../src/store/open/open-store.ts';

/*
 * Run by crash.test.ts as a process of its own: writes feedback from several clients at once and names each record on
 * standard output once its write is acknowledged, until it is killed.
 */
const [dataPath, cachePath, sync] = process.argv.slice(2) as [string, string, SyncMode];
const { data } = openStore({
  dataPath,
  cachePath,
  sync,
  limits: DEFAULT_LIMITS,
  autoInsertUser: true,
  autoInsertItem: true,
  positiveFeedbackTypes: [],
  readFeedbackTypes: [],
  repeatedTypes: ['buy'],
});

async function client(name: string): Promise<void> {
  for (let i = 0; ; i++) {
    const records = [0, 1, 2].map((part) => ({
      FeedbackType: 'like',
      UserId: name,
      ItemId: `${i}.${part}`,
      Timestamp: '',
      Comment: '',
    }));
    const bought = {
      ...records[0]!,
      FeedbackType: 'buy',
      ItemId: 'bread',
      Timestamp: new Date(i * 1000).toISOString(),
    };
    await data.write({ kind: 'putFeedback', overwrite: false, batch: { records: [...records, bought] } });
    process.stdout.write(`${name} ${i}\n`);
  }
}

for (const name of ['a', 'b', 'c', 'd']) void client(name);
