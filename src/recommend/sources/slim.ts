import { TopK } from '../ranked.ts';
import type { RowSums } from '../row-sums.ts';
import type { NeighborLists } from '../serving-model.ts';
import type { Matcher } from './matcher.ts';

/** The most recent likes that SLIM looks at: each speaks for some hundred items. */
const SLIM_LIKES_MAX = 200;

/** Items with the highest sums of weights on what the user likes; a second opinion of the collaborative recommender. */
export const slimMatcher: Matcher = {
  lists({ settings, slimSums, accept }) {
    if (!settings.collaborative) return [];
    const top = new TopK(settings.cacheSize);
    for (const row of slimSums.rows) {
      const sum = slimSums.get(row);
      if (sum > 0 && accept(row)) top.push(row, sum);
    }
    return [top.sorted().rows];
  },
  proposes:
    ({ settings, slimSums }) =>
    (row) =>
      settings.collaborative && slimSums.get(row) > 0,
};

/** Sums what the latest likes speak for. */
export function sumWeights(model: NeighborLists | undefined, liked: readonly number[], sums: RowSums): void {
  sums.clear();
  if (model === undefined) return;
  for (let at = 0; at < liked.length && at < SLIM_LIKES_MAX; at++) {
    const { rows, scores } = model.neighborsAt(liked[at]!);
    for (let entry = 0; entry < rows.length; entry++) sums.add(rows[entry]!, scores[entry]!);
  }
}
