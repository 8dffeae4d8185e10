import type { ColdItems } from '../../neighbors/cold-item-index.ts';

/** The most recent likes among which new items are looked for. */
const COLD_LIKES_MAX = 50;

/** The likes, and for each of a new item, which the model does not know, the known items that it is like. */
export function withKnownLikes(
  { rows, starts, likes, knownRows }: ColdItems,
  liked: readonly number[],
): readonly number[] {
  const known = [...liked];
  for (let at = 0; rows.length > 0 && at < liked.length && at < COLD_LIKES_MAX; at++) {
    const cold = rows.indexOf(liked[at]!);
    if (cold < 0) continue;
    for (let entry = starts[cold]!; entry < starts[cold + 1]!; entry++) known.push(knownRows[likes[entry]!]!);
  }
  return known;
}

/**
 * The score of the known items that a cold item is like, weighted by how like they are.
 * @param at the item's number among the cold ones
 * @param knownScores one for each of `knownRows`
 */
export function coldScore(
  { starts, likes, similarities }: ColdItems,
  at: number,
  knownScores: Float64Array,
): number {
  let sum = 0;
  let weight = 0;
  for (let entry = starts[at]!; entry < starts[at + 1]!; entry++) {
    sum += similarities[entry]! * knownScores[likes[entry]!]!;
    weight += similarities[entry]!;
  }
  return sum / weight;
}
