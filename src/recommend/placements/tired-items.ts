import { getOrPut } from '../../domain/get-or-put.ts';
import type { ShownRecord } from '../../store/shown-log.ts';

/** When an item rests. */
export interface TiredRules {
  readonly placement: string;
  /** Lists in which the user has seen it; above 0. */
  readonly after: number;
  /** Lists seen before do not count, milliseconds since the epoch. */
  readonly sinceMs: number;
}

/** Rows of the items that a user has seen so often that they rest. Feedback that names a list ends the rest of its item. */
export function tiredRows(
  records: readonly ShownRecord[],
  { placement, after, sinceMs }: TiredRules,
): number[] {
  const lists = new Map<number, Set<number>>();
  for (const { timeMs, list, itemRows, feedbackType } of records) {
    if (feedbackType !== undefined) for (const row of itemRows) lists.delete(row);
    else if (timeMs >= sinceMs && list.placement === placement)
      for (const row of itemRows) getOrPut(lists, row, () => new Set()).add(list.timeMs);
  }
  return [...lists].filter(([, seenIn]) => seenIn.size >= after).map(([row]) => row);
}
