/** Replacement: what a user has read is put back into the list, with less weight. */
import type { History } from '../../history/history.ts';
import type { Replacement } from '../../sources/list-settings.ts';

/**
 * The items that the user has read and that are put back: all that may be listed and is wanted, nothing where there is no replacement.
 * @returns rows of items
 */
export function putBack(
  replacement: Replacement | undefined,
  history: History,
  isListable: (itemRow: number) => boolean,
  isWanted: (itemRow: number) => boolean,
): readonly number[] {
  if (replacement === undefined) return NOTHING;
  return history.readRowsInEffect().filter((row) => isListable(row) && isWanted(row));
}

const NOTHING: readonly number[] = [];

/**
 * The scores of items that are put back. A score and its decay stand in for "so much less likely", also where scores
 * are negative.
 * @param scores what each of `rows` would score unread
 * @param liked rows of the items that the user likes, which decay otherwise
 */
export function decayedScores(
  replacement: Replacement | undefined,
  rows: readonly number[],
  scores: Float64Array,
  liked: readonly number[],
): number[] {
  if (replacement === undefined || rows.length === 0) return [];
  const isLiked = new Set(liked);
  const { positiveDecay, readDecay } = replacement;
  return rows.map((row, at) => {
    const score = scores[at]!;
    return score - (1 - (isLiked.has(row) ? positiveDecay : readDecay)) * Math.abs(score);
  });
}
