/** Replacement: what a user has read is put back into the list, with less weight. */
import type { History } from '../history/history.ts';

/** Factors on the scores of what is put back; `[recommend.replacement]`. */
export interface Replacement {
  readonly positiveDecay: number;
  readonly readDecay: number;
}

/** What the user has read that may be listed. */
export function readItems(
  history: History,
  isListable: (itemRow: number) => boolean,
  isWanted: (itemRow: number) => boolean,
): number[] {
  return history.readRowsInEffect().filter((row) => isListable(row) && isWanted(row));
}

/** A score and its decay stand in for "so much less likely", also where scores are negative. */
export function decayed(score: number, isLiked: boolean, { positiveDecay, readDecay }: Replacement): number {
  return score - (1 - (isLiked ? positiveDecay : readDecay)) * Math.abs(score);
}
