import { getOrPut } from '../domain/get-or-put.ts';
import type { ListName, ShownRecord } from '../store/shown-log.ts';

/** A feedback of a user. */
export interface GivenFeedback {
  readonly itemRow: number;
  /** Type as it was written. */
  readonly type: string;
  /** The type, or where its value makes it positive, the kind: `rating>=4`. */
  readonly kind: string;
  readonly timeMs: number;
}

/** A feedback and how it is known of which list it came. */
export interface Outcome extends GivenFeedback {
  /** True where it named the list, false where it came within the window. */
  readonly isNamed: boolean;
}

/** A list that a user has seen something of or, where nothing is seen, one that could not be made. */
export interface SeenList extends Omit<ListName, 'generation'> {
  /** Time at which something of it was seen first. */
  shownMs: number;
  /** Items seen, with the place of each and the time at which it was seen last; place 0 where it is not known. */
  readonly seen: Map<number, { place: number; lastMs: number }>;
  readonly outcomes: Outcome[];
}

/**
 * Gives a user's feedback to the lists that it came of: each to the list that it named, otherwise to the last list with the item
 * that the user saw before, if that is not longer ago than the window. Pauses now and then: a robot sees very many.
 * @param records what the user was shown and credited, by time
 * @param windowMs the longest time between seeing an item and feedback on it
 */
export function* attribute(
  records: readonly ShownRecord[],
  feedback: readonly GivenFeedback[],
  windowMs: number,
): Generator<undefined, SeenList[]> {
  const lists = new Map<string, SeenList>();
  const named = new Map<string, SeenList>();
  for (const { list, timeMs, itemRows, places, feedbackType } of records) {
    const key = `${list.placement}\n${list.variant}\n${list.timeMs}`;
    const seenList = getOrPut(lists, key, () => ({
      ...list,
      shownMs: timeMs,
      seen: new Map(),
      outcomes: [],
    }));
    yield;
    seenList.shownMs = Math.min(seenList.shownMs, timeMs);
    for (const [at, row] of itemRows.entries()) {
      const before = seenList.seen.get(row);
      const place = before?.place || (places[at] ?? 0);
      seenList.seen.set(row, { place, lastMs: Math.max(before?.lastMs ?? 0, timeMs) });
      if (feedbackType !== undefined) named.set(`${row} ${feedbackType}`, seenList);
    }
  }
  const byTime = [...lists.values()].sort((a, b) => b.timeMs - a.timeMs);
  const withItem = new Map<number, SeenList[]>();
  for (const list of byTime) {
    yield;
    for (const row of list.seen.keys()) getOrPut(withItem, row, () => []).push(list);
  }
  for (const each of feedback) {
    yield;
    const { itemRow, type, timeMs } = each;
    const own = named.get(`${itemRow} ${type}`);
    const list =
      own ??
      withItem.get(itemRow)?.find((candidate) => {
        const seen = candidate.seen.get(itemRow);
        // Seeing may be told a little later than feedback on it, but no list is answered after.
        return seen !== undefined && candidate.timeMs <= timeMs && timeMs <= seen.lastMs + windowMs;
      });
    list?.outcomes.push({ ...each, isNamed: own !== undefined });
  }
  return byTime;
}
