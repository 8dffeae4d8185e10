import { typeTest } from '../recommend/history/counts-as-positive.ts';
import { type CountsSettings, renewCounts, SavedCounts } from '../recommend/popularity/saved-counts.ts';
import type { PostgresDsn } from '../store/dsn.ts';
import { withAllFeedback } from '../store/open/thread-stores.ts';
import { type RecountJob, SAVED_COUNTS_NAME } from './messages.ts';
import { cacheAt, readerAt, withReads } from './open-stores.ts';

/** See `RecountJob`. */
export async function recountFeedback({
  dataPath,
  cachePath,
  nowMs,
  sharedDatabase,
  ...settings
}: RecountJob): Promise<Uint8Array | undefined> {
  const cache = cacheAt(cachePath);
  const saved = await cache.getBlob(SAVED_COUNTS_NAME);
  const { positiveTypes, windowMs, ttlMs } = settings;
  const counted = { positiveTypes, windowMs, ttlMs };
  const known = withReads(dataPath, (reads) => renewCounts(saved, counted, reads, () => nowMs));
  const renewed = known ?? (sharedDatabase && (await countAnew(counted, dataPath, sharedDatabase, nowMs)));
  // A worker that sleeps on a snapshot would keep the store from using freed pages again.
  cache.local?.refresh();
  if (renewed === undefined) return undefined;
  // One that cannot be kept still serves.
  await cache.putBlob(SAVED_COUNTS_NAME, renewed).catch(() => {});
  const shared = new Uint8Array(new SharedArrayBuffer(renewed.length));
  shared.set(renewed);
  return shared;
}

/** The counts where this node has no copy of feedback; undefined where it has, and cannot tell as of when. */
async function countAnew(
  settings: CountsSettings,
  dataPath: string,
  sharedDatabase: PostgresDsn,
  nowMs: number,
): Promise<Uint8Array | undefined> {
  const reader = readerAt(dataPath);
  if (!reader.local.isPartial) return undefined;
  const isPositive = typeTest(settings.positiveTypes, () => reader.local.feedbackTypes());
  const counts = new SavedCounts(settings, () => nowMs, isPositive);
  try {
    const position = await withAllFeedback(sharedDatabase, reader, (block) => counts.take(block));
    return counts.save(position);
  } finally {
    reader.local.refresh();
  }
}
