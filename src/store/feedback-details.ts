import type { Feedback } from '../domain/entities.ts';
import { formatTimestamp, parseTimestamp } from '../domain/rfc3339.ts';
import type { LocalReads } from './data-store.ts';
import { countsByTime, eventsOf, occurrencesOf, sumOf, timesOf } from './repeats.ts';

/** Feedback with how often and when it happened, in the field names of the HTTP API. */
export interface FeedbackDetails extends Feedback {
  readonly Count: number;
  readonly LastTimestamp: string;
  /** Of all its events; absent for 0. */
  readonly ValueSum?: number;
  /** Its events in order of time; absent where it happened once. Of more than 64 the oldest but the first are put together. */
  readonly Occurrences?: readonly {
    readonly Timestamp: string;
    readonly Value?: number;
    readonly Count: number;
  }[];
}

/** @param feedback as the store of `local` gave it */
export function detailsOf(feedback: Feedback, local: LocalReads): FeedbackDetails {
  const stored = local.occurrences(feedback);
  const { Timestamp, Value = 0 } = feedback;
  const occurrences = stored ?? occurrencesOf({ timeMs: parseTimestamp(Timestamp), value: Value });
  const ValueSum = sumOf(occurrences);
  return {
    ...feedback,
    Count: timesOf(occurrences),
    LastTimestamp: formatTimestamp(countsByTime(occurrences).at(-1)![0]),
    ...(ValueSum !== 0 && { ValueSum }),
    ...(stored !== undefined && {
      Occurrences: stored.map(({ timeMs, value, count }) => ({
        Timestamp: formatTimestamp(timeMs),
        ...(value !== 0 && { Value: value }),
        Count: count,
      })),
    }),
  };
}

/** A record for each event, the comment with the first; feedback that happened once as it is. */
export function eventsOfDetails({ Occurrences, ...details }: FeedbackDetails): Feedback[] {
  const { Count: _count, LastTimestamp: _last, ValueSum: _sum, ...feedback } = details;
  if (Occurrences === undefined) return [feedback];
  const { FeedbackType, UserId, ItemId, Comment } = feedback;
  const events = eventsOf(
    Occurrences.map(({ Timestamp, Value = 0, Count }) => ({
      timeMs: parseTimestamp(Timestamp),
      value: Value,
      count: Count,
    })),
  );
  return events.map(({ timeMs, value }, at) => ({
    FeedbackType,
    UserId,
    ItemId,
    Timestamp: formatTimestamp(timeMs),
    Comment: at === 0 ? Comment : '',
    ...(value !== 0 && { Value: value }),
  }));
}
