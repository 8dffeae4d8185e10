import { renewTally } from '../../recommend/popularity/tally.ts';
import { TALLY_NAME, type TallyJob } from '../messages.ts';
import { cacheAt, withReads } from './stores.ts';

/** See `TallyJob`. */
export async function renewSavedTally({
  dataPath,
  cachePath,
  nowMs,
  ...settings
}: TallyJob): Promise<Uint8Array | undefined> {
  const cache = cacheAt(cachePath);
  const saved = await cache.getBlob(TALLY_NAME);
  const { positiveTypes, windowMs, ttlMs } = settings;
  const renewed = withReads(dataPath, (reads) =>
    renewTally(saved, { positiveTypes, windowMs, ttlMs }, reads, () => nowMs),
  );
  // A worker that sleeps on a snapshot would keep the store from using freed pages again.
  cache.local?.refresh();
  if (renewed === undefined) return undefined;
  // One that cannot be kept still serves.
  await cache.putBlob(TALLY_NAME, renewed).catch(() => {});
  const shared = new Uint8Array(new SharedArrayBuffer(renewed.length));
  shared.set(renewed);
  return shared;
}
