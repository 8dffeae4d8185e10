import { renewCounts } from '../recommend/popularity/saved-counts.ts';
import { type RecountJob, SAVED_COUNTS_NAME } from './messages.ts';
import { cacheAt, withReads } from './open-stores.ts';

/** See `RecountJob`. */
export async function recountFeedback({
  dataPath,
  cachePath,
  nowMs,
  ...settings
}: RecountJob): Promise<Uint8Array | undefined> {
  const cache = cacheAt(cachePath);
  const saved = await cache.getBlob(SAVED_COUNTS_NAME);
  const { positiveTypes, windowMs, ttlMs } = settings;
  const renewed = withReads(dataPath, (reads) =>
    renewCounts(saved, { positiveTypes, windowMs, ttlMs }, reads, () => nowMs),
  );
  // A worker that sleeps on a snapshot would keep the store from using freed pages again.
  cache.local?.refresh();
  if (renewed === undefined) return undefined;
  // One that cannot be kept still serves.
  await cache.putBlob(SAVED_COUNTS_NAME, renewed).catch(() => {});
  const shared = new Uint8Array(new SharedArrayBuffer(renewed.length));
  shared.set(renewed);
  return shared;
}
