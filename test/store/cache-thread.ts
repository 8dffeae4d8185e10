import { workerData } from 'node:worker_threads';
import { openCacheStore } from '../../src/store/open/thread-stores.ts';

/** One of the threads of cache-store.test.ts: writes 200 lists, in twenty transactions. */
const { path, part } = workerData as { path: string; part: number };
const cache = openCacheStore(path);
for (let i = 0; i < 200; i += 10) {
  const rows = Array.from({ length: 10 }, (_, at) => part * 200 + i + at);
  await cache.putLists(
    rows.map((userRow) => ({
      userRow,
      generation: 1,
      madeMs: 0,
      knowsMs: 0,
      itemRows: Uint32Array.of(userRow),
      scores: Float32Array.of(1),
    })),
  );
}
await cache.close();
