import { createRandom } from '../domain/random.ts';
import type { Timeline } from './timeline.ts';

/** Records that are replayed at the most, however large the data. */
const ROWS_MAX = 50_000;
/** Likes of a user that lie closer together than this belong to one session. */
const SESSION_GAP_MS = 30 * 60_000;
/** Items of a session that are told with the question. */
const SESSION_ITEMS_MAX = 10;

export interface ReplayOptions {
  /** Share of all records that is replayed, the latest ones. */
  readonly share: number;
  /** Questions at the most, chosen at random with the seed. */
  readonly questionsMax: number;
  /** Fits at the most after the first. */
  readonly fitsMax: number;
  /** Time from one fit to the next as it is configured, milliseconds. */
  readonly fitPeriodMs: number;
  readonly seed: number;
}

/** The last part of the data as it is gone through. */
export interface ReplayPlan {
  readonly timeline: Timeline;
  /** The index of the first record that is replayed. */
  readonly from: number;
  /** Indices of the records that are questions first, ascending. */
  readonly questions: readonly number[];
  /** Times of the fits after the first, milliseconds since the epoch, ascending. */
  readonly fitsMs: readonly number[];
  /** Positive records of the replayed part: all, those whose answer a list may hold, and those that a sample leaves. */
  readonly positives: number;
  readonly judgeable: number;
}

/**
 * Chooses the part that is replayed, its questions, and when the service learns: every period, or, where that would be more
 * than `fitsMax` fits, as often at equal distances.
 */
export function planReplay(timeline: Timeline, options: ReplayOptions): ReplayPlan {
  const { share, questionsMax, fitsMax, fitPeriodMs, seed } = options;
  const { length, timesMs } = timeline;
  const from = length - Math.min(ROWS_MAX, Math.round(length * share));
  let positives = 0;
  const judgeable: number[] = [];
  for (let at = from; at < length; at++) {
    if (!timeline.isPositive(at)) continue;
    positives++;
    if (isAnswerable(timeline, at)) judgeable.push(at);
  }
  const [startMs, endMs] = [timesMs[from] ?? 0, timesMs[length - 1] ?? 0];
  const periodMs = Math.max(fitPeriodMs, (endMs - startMs) / (fitsMax + 1), 1);
  const fitsMs: number[] = [];
  for (let next = startMs + periodMs; next < endMs && fitsMs.length < fitsMax; next += periodMs)
    fitsMs.push(next);
  const questions = sample(judgeable, questionsMax, seed).sort((a, b) => a - b);
  return { timeline, from, questions, fitsMs, positives, judgeable: judgeable.length };
}

/** The indices of the likes that a user's session begins with, oldest first; none where none is open. */
export function sessionBefore(timeline: Timeline, user: number, at: number): Uint32Array {
  const likes = timeline.likesOf(user, at, SESSION_ITEMS_MAX);
  let laterMs = timeline.timesMs[at]!;
  let first = likes.length;
  while (first > 0 && laterMs - timeline.timesMs[likes[first - 1]!]! <= SESSION_GAP_MS)
    laterMs = timeline.timesMs[likes[--first]!]!;
  return likes.subarray(first);
}

/** A repeat is never recommended, and an item that nobody has heard of cannot be. */
function isAnswerable(timeline: Timeline, at: number): boolean {
  const item = timeline.itemRows[at]!;
  const isKnown = timeline.firstOfItem[item]! < at || timeline.knownFromMs(item) < timeline.timesMs[at]!;
  return timeline.isNew[at] === 1 && isKnown;
}

/** @returns at most `max` of the values, in another order */
export function sample(values: readonly number[], max: number, seed: number): number[] {
  const shuffled = [...values];
  const random = createRandom(seed);
  const count = Math.min(max, shuffled.length);
  for (let at = 0; at < count; at++) {
    const other = at + random.below(shuffled.length - at);
    [shuffled[at], shuffled[other]] = [shuffled[other]!, shuffled[at]!];
  }
  return shuffled.slice(0, count);
}
