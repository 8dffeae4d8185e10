import { getOrPut } from '../../domain/get-or-put.ts';
import type { ShownRecord } from '../../store/shown-log.ts';

/**
 * Lists in which a user has seen each item, by its row, since the last feedback on it that names a list.
 * @param sinceMs lists seen before do not count, milliseconds since the epoch
 */
export function passedOver(
  records: readonly ShownRecord[],
  { placement, sinceMs }: { readonly placement: string; readonly sinceMs: number },
): Map<number, number> {
  const lists = new Map<number, Set<number>>();
  for (const { timeMs, list, itemRows, feedbackType } of records) {
    if (feedbackType !== undefined) for (const row of itemRows) lists.delete(row);
    else if (timeMs >= sinceMs && list.placement === placement)
      for (const row of itemRows) getOrPut(lists, row, () => new Set()).add(list.timeMs);
  }
  return new Map(Array.from(lists, ([row, seenIn]) => [row, seenIn.size]));
}
