import type { NeighborLists } from './serving-model.ts';

const NONE: ReadonlyMap<number, number> = new Map();

/** Items most like the liked ones together: the sum of each item's similarity to them, by row. */
export function similarItems(
  lists: NeighborLists | undefined,
  likedRows: readonly number[],
): ReadonlyMap<number, number> {
  if (lists === undefined) return NONE;
  const sums = new Map<number, number>();
  for (const liked of likedRows) {
    const { rows, scores } = lists.neighborsAt(liked);
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at]!;
      sums.set(row, (sums.get(row) ?? 0) + scores[at]!);
    }
  }
  return sums;
}
