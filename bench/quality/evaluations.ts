/** Evaluation protocols over a ranker: the full catalogue, and sampled leave-one-out. */
import type { CompressedMatrix } from '../../src/dataset/interactions.ts';
import { estimate } from '../../src/model/evaluation/confidence-interval.ts';
import { type Evaluation, evaluateUsers, mergeParts } from '../../src/model/evaluation/evaluate.ts';
import type { Ranker } from '../../src/model/evaluation/ranker.ts';

/**
 * Ranks the whole catalogue for every user with held-out items, leaving out the items seen in training.
 * NDCG, recall, precision, hit rate and MRR at each cut-off are means over those users; `Coverage@k` is the
 * share of the catalogue that stands in at least one list (it has no confidence interval).
 * @param cutoffs list lengths, each at least 1
 * @param userLimit evaluates only the first so many users; all when absent
 */
export function evaluateFullCatalogue(
  ranker: Ranker,
  train: CompressedMatrix,
  test: CompressedMatrix,
  cutoffs: readonly number[],
  userLimit = test.rowCount,
): Evaluation {
  const part = evaluateUsers(ranker, train, test, cutoffs, {
    first: 0,
    end: test.rowCount,
    limit: userLimit,
  });
  return mergeParts([part], cutoffs);
}

/** One case of the sampled protocol: a user, the item held out, and the items it competes with. */
export interface SampledCase {
  readonly userRow: number;
  readonly itemRow: number;
  readonly negativeRows: Uint32Array;
}

/**
 * Leave-one-out against sampled negatives (He et al. 2017): the held-out item is ranked among its negatives.
 * Equal scores count against the model, so a constant scorer gets no credit. Sampled figures compare only
 * with figures from the same negatives (Krichene and Rendle 2020).
 */
export function evaluateSampled(
  ranker: Ranker,
  cases: readonly SampledCase[],
  cutoffs: readonly number[],
): Evaluation {
  const values = new Map<string, number[]>();
  const push = (name: string, value: number) => {
    const list = values.get(name);
    if (list === undefined) values.set(name, [value]);
    else list.push(value);
  };
  for (const { userRow, itemRow, negativeRows } of cases) {
    const rows = new Uint32Array(negativeRows.length + 1);
    rows[0] = itemRow;
    rows.set(negativeRows, 1);
    const scores = new Float32Array(rows.length);
    ranker.scoreItems(userRow, rows, scores);
    let rank = 0;
    for (let at = 1; at < rows.length; at++) {
      if (rows[at] !== itemRow && !(scores[at]! < scores[0]!)) rank++;
    }
    for (const k of cutoffs) {
      push(`HR@${k}`, rank < k ? 1 : 0);
      push(`NDCG@${k}`, rank < k ? 1 / Math.log2(rank + 2) : 0);
      push(`MRR@${k}`, rank < k ? 1 / (rank + 1) : 0);
    }
  }
  return {
    userCount: cases.length,
    metrics: new Map(Array.from(values, ([name, list]) => [name, estimate(list)])),
  };
}
