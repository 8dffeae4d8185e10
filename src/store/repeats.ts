/** Feedback that happened several times: the events of one triple of user, item and type, and how they are stored. */
import { DecimalSum } from './decimal-sum.ts';

/** One event, or several that lie close together and long ago. */
export interface Occurrence {
  /** Milliseconds since the epoch; that of the first of several. */
  readonly timeMs: number;
  /** The sum of several. */
  readonly value: number;
  /** Events that count: 0 for one that takes back, with a value below 0. */
  readonly count: number;
}

/** The events of a triple, ascending by time, no two of one time. */
export type Occurrences = readonly Occurrence[];

/** Feedback as it is stored: the time of its latest event that counts, the sum of all values, the comment of the earliest. */
export interface StoredFeedback {
  readonly timeMs: number;
  readonly comment: string;
  readonly value: number;
  /** Two or more; absent for feedback that happened once. */
  readonly occurrences?: Occurrences | undefined;
}

/** Events that are kept one by one; of more, the oldest but the first are put together. */
export const OCCURRENCES_MAX = 64;
const OCCURRENCE_BYTES = 20;

/** One event as it came; one that came without a time is new whatever there is, and takes the next millisecond that is free. */
export type Event = Pick<Occurrence, 'timeMs' | 'value'> & {
  readonly comment?: string;
  readonly isUntimed?: true | undefined;
};

function occurrenceOf({ timeMs, value }: Event): Occurrence {
  return { timeMs, value, count: value < 0 ? 0 : 1 };
}

/** The events of feedback that may have happened once. */
export function occurrencesOf({ occurrences, timeMs, value }: Omit<StoredFeedback, 'comment'>): Occurrences {
  return occurrences ?? [occurrenceOf({ timeMs, value })];
}

/**
 * Counts further events in. One of a time that is there is the same event, sent again.
 * @returns the feedback, the same object where nothing was new, and how many events were
 */
export function countIn(
  stored: StoredFeedback,
  events: readonly Event[],
): { readonly feedback: StoredFeedback; readonly counted: number } {
  if (events.length === 0) return { feedback: stored, counted: 0 };
  let occurrences = occurrencesOf(stored);
  let { comment } = stored;
  let counted = 0;
  for (const each of events) {
    const event = each.isUntimed ? { ...each, timeMs: freeTime(occurrences, each.timeMs) } : each;
    const more = withEvent(occurrences, event);
    if (more === undefined) continue;
    if (event.timeMs < occurrences[0]!.timeMs) comment = event.comment ?? '';
    occurrences = more;
    counted++;
  }
  if (counted === 0) return { feedback: stored, counted };
  const timeMs = countsByTime(occurrences).at(-1)![0];
  return { feedback: { timeMs, comment, value: sumOf(occurrences), occurrences }, counted };
}

function freeTime(occurrences: Occurrences, timeMs: number): number {
  const taken = new Set(occurrences.map((each) => each.timeMs));
  let freeMs = timeMs;
  while (taken.has(freeMs)) freeMs++;
  return freeMs;
}

/** Undefined for an event that is there, or that is so old that nobody can tell. */
function withEvent(occurrences: Occurrences, event: Event): Occurrences | undefined {
  const { timeMs } = event;
  if (occurrences.some((each) => each.timeMs === timeMs)) return undefined;
  const at = occurrences.filter((each) => each.timeMs < timeMs).length;
  const isFull = occurrences.length === OCCURRENCES_MAX;
  // The second stands for all up to the third.
  if (isFull && at === 2) return undefined;
  const more = [...occurrences.slice(0, at), occurrenceOf(event), ...occurrences.slice(at)];
  if (!isFull) return more;
  const [first, second, third, ...others] = more;
  return [first!, together(second!, third!), ...others];
}

function together(earlier: Occurrence, later: Occurrence): Occurrence {
  return {
    timeMs: earlier.timeMs,
    value: sumOf([earlier, later]),
    count: earlier.count + later.count,
  };
}

export function sumOf(occurrences: Occurrences): number {
  const sum = new DecimalSum();
  for (const { value } of occurrences) sum.add(value);
  return sum.value;
}

/** How many events count at which time; where all take back, the last counts as one, as a single record does. */
export function countsByTime(occurrences: Occurrences): [timeMs: number, count: number][] {
  const counting = occurrences.filter(({ count }) => count > 0);
  if (counting.length === 0) return [[occurrences.at(-1)!.timeMs, 1]];
  return counting.map(({ timeMs, count }) => [timeMs, count]);
}

/** Number of events, at least one. */
export function timesOf(occurrences: Occurrences): number {
  return countsByTime(occurrences).reduce((sum, [, count]) => sum + count, 0);
}

/** Of each event: f64 time (ms), f64 value, u32 count. */
export function encodeOccurrences(occurrences: Occurrences): Uint8Array {
  const view = new DataView(new ArrayBuffer(occurrences.length * OCCURRENCE_BYTES));
  for (const [index, { timeMs, value, count }] of occurrences.entries()) {
    const at = index * OCCURRENCE_BYTES;
    view.setFloat64(at, timeMs, true);
    view.setFloat64(at + 8, value, true);
    view.setUint32(at + 16, count, true);
  }
  return new Uint8Array(view.buffer);
}

/** @param bytes what `encodeOccurrences` made */
export function decodeOccurrences(bytes: Uint8Array): Occurrences {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: Math.floor(bytes.length / OCCURRENCE_BYTES) }, (_, index) => {
    const at = index * OCCURRENCE_BYTES;
    return {
      timeMs: view.getFloat64(at, true),
      value: view.getFloat64(at + 8, true),
      count: view.getUint32(at + 16, true),
    };
  });
}

/**
 * Events that make the same feedback when they are counted in one after the other. Those that were put together are a
 * millisecond apart, for which there is room where they were.
 */
export function eventsOf(occurrences: Occurrences): Event[] {
  return occurrences.flatMap(({ timeMs, value, count }) => {
    if (count === (value < 0 ? 0 : 1)) return [{ timeMs, value }];
    const events = Array.from({ length: count }, (_, at) => ({ timeMs: timeMs + at, value: 0 }));
    if (value >= 0) events[0]!.value = value;
    else events.push({ timeMs: timeMs + count, value });
    return events;
  });
}
