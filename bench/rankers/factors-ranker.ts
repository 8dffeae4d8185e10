import type { MfScorer } from '../../src/model/als/mf-scorer.ts';
import type { Ranker } from '../../src/model/evaluation/ranker.ts';

/** Ranks by a matrix factorization; a user that the model does not know gets an empty list and zero scores. */
export function createMfRanker(scorer: MfScorer): Ranker {
  return {
    topItems: (userRow, k, excluded) => {
      const vector = scorer.userVector(userRow);
      return vector === null ? new Uint32Array(0) : scorer.recommend(vector, k, excluded).itemRows;
    },
    scoreItems: (userRow, itemRows, out) => {
      const vector = scorer.userVector(userRow);
      if (vector === null) out.fill(0);
      else out.set(scorer.scoreItems(vector, itemRows));
    },
  };
}
