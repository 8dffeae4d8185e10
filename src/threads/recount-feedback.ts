import { typeTest } from '../recommend/history/counts-as-positive.ts';
import {
  decodePublished,
  encodePublished,
  PUBLISHED_COUNTS_NAME,
} from '../recommend/popularity/published-counts.ts';
import {
  type CountsSettings,
  positionOf,
  renewCounts,
  SavedCounts,
} from '../recommend/popularity/saved-counts.ts';
import type { LocalReads } from '../store/data-store.ts';
import type { PostgresDsn } from '../store/dsn.ts';
import type { SharedModelPlace } from '../store/model-store.ts';
import { feedbackReads, type ThreadReader } from '../store/open/thread-stores.ts';
import { type RecountJob, SAVED_COUNTS_NAME } from './messages.ts';
import { cacheAt, readerAt, withModelsAt, withReads } from './open-stores.ts';

/** The counts wait for nobody: those of the next time are published where the database is away now. */
const AT_ONCE = new Int32Array(new SharedArrayBuffer(4)).fill(1);

/** See `RecountJob`. */
export async function recountFeedback(job: RecountJob): Promise<Uint8Array | undefined> {
  const { dataPath, nowMs, shared } = job;
  const cache = cacheAt(job.cachePath);
  const saved = await cache.getBlob(SAVED_COUNTS_NAME);
  const { positiveTypes, windowMs, ttlMs } = job;
  const counted = { positiveTypes, windowMs, ttlMs };
  const [known, published] = withReads(dataPath, (reads) => {
    const found = renewCounts(saved, counted, reads, () => nowMs);
    return [found, job.publishes ? toPublish(found, reads) : undefined] as const;
  });
  const renewed = known ?? (shared && (await countAnew(counted, job, shared)));
  // A worker that sleeps on a snapshot would keep the store from using freed pages again.
  cache.local?.refresh();
  if (renewed === undefined) return undefined;
  // One that cannot be kept still serves, and so does one that nobody else gets.
  await cache.putBlob(SAVED_COUNTS_NAME, renewed).catch(() => {});
  if (published !== undefined && shared !== undefined)
    await withModelsAt({ ...shared, givenUp: AT_ONCE }, (models) =>
      models.putBlob(PUBLISHED_COUNTS_NAME, published),
    ).catch(() => {});
  const answer = new Uint8Array(new SharedArrayBuffer(renewed.length));
  answer.set(renewed);
  return answer;
}

/** Undefined where it is not known of which commit the counts are. */
function toPublish(saved: Uint8Array | undefined, reads: LocalReads): Uint8Array | undefined {
  const { replicaPoint: point, feedbackPosition } = reads;
  if (saved === undefined || point === undefined) return undefined;
  if (positionOf(saved).commit !== feedbackPosition?.commit) return undefined;
  return encodePublished({ point, typeNames: reads.feedbackTypes() }, saved);
}

/** The counts where this node has no copy of feedback; undefined where it has, and cannot tell as of when. */
async function countAnew(
  settings: CountsSettings,
  { dataPath, nowMs }: RecountJob,
  shared: SharedModelPlace,
): Promise<Uint8Array | undefined> {
  const reader = readerAt(dataPath);
  if (!reader.local.isPartial) return undefined;
  const isPositive = typeTest(settings.positiveTypes, () => reader.local.feedbackTypes());
  const empty = () => new SavedCounts(settings, () => nowMs, isPositive);
  try {
    const bytes = await withModelsAt(shared, (models) => models.getBlob(PUBLISHED_COUNTS_NAME));
    const goneOn = bytes && (await goOn(bytes, empty(), reader, shared.dsn));
    if (goneOn !== undefined) return goneOn;
  } catch {
    // Damaged, of another configuration, or not to be had: everything is counted.
  }
  try {
    const counts = empty();
    const { readAllFeedback } = await feedbackReads();
    const position = await readAllFeedback(shared.dsn, reader, (block) => counts.take(block));
    return counts.save(position);
  } finally {
    reader.local.refresh();
  }
}

/** Brings what another node has counted up to date. @returns undefined where that cannot be */
async function goOn(
  published: Uint8Array,
  counts: SavedCounts,
  reader: ThreadReader,
  database: PostgresDsn,
): Promise<Uint8Array | undefined> {
  const { point, typeNames, counts: words } = decodePublished(published);
  counts.restore(new Uint8Array(words.buffer, words.byteOffset, words.byteLength));
  // Types have numbers of their own at each node.
  const byType = counts.types.save();
  counts.types.restore([]);
  const { readFeedbackSince } = await feedbackReads();
  const position = await readFeedbackSince(database, reader, point, (feedback, sign) => {
    counts.apply(feedback, sign);
    counts.popularity.drain();
  });
  const names = reader.local.feedbackTypes();
  const isWhole = counts.types.add(byType, (type) => names.indexOf(typeNames[type]!));
  return position && isWhole && !counts.popularity.hasForgotten ? counts.save(position) : undefined;
}
