/**
 * Measures of one ranked list against the items that a user really took up. All lie in [0, 1] and higher
 * is better. `hits[r]` says whether the entry of rank r (from 0) is relevant.
 */

/**
 * Normalized discounted cumulative gain with binary gains (Järvelin and Kekäläinen 2002): the discount is
 * 1 / log2(rank + 2), the ideal list has all relevant items first.
 * @param relevantCount how many relevant items there are, at least 1
 */
export function ndcg(hits: readonly boolean[], k: number, relevantCount: number): number {
  let gain = 0;
  let ideal = 0;
  for (let rank = 0; rank < k; rank++) {
    const discount = 1 / Math.log2(rank + 2);
    if (hits[rank] === true) gain += discount;
    if (rank < relevantCount) ideal += discount;
  }
  return gain / ideal;
}

/** The share of the relevant items among the first k. */
export function recall(hits: readonly boolean[], k: number, relevantCount: number): number {
  return countHits(hits, k) / relevantCount;
}

/** The share of the first k places that hold a relevant item. */
export function precision(hits: readonly boolean[], k: number): number {
  return countHits(hits, k) / k;
}

/** 1 when any of the first k is relevant, else 0. */
export function hitRate(hits: readonly boolean[], k: number): number {
  return countHits(hits, k) > 0 ? 1 : 0;
}

/** One over the rank (from 1) of the first relevant entry among the first k, 0 without one. */
export function reciprocalRank(hits: readonly boolean[], k: number): number {
  for (let rank = 0; rank < k; rank++) if (hits[rank] === true) return 1 / (rank + 1);
  return 0;
}

function countHits(hits: readonly boolean[], k: number): number {
  let count = 0;
  for (let rank = 0; rank < k; rank++) if (hits[rank] === true) count++;
  return count;
}

/**
 * Area under the receiver operating characteristic by ranks (Mann and Whitney 1947); ties count half.
 * @param labels 1 for positive, anything else for negative
 * @returns NaN when one of the classes is empty
 */
export function auc(scores: ArrayLike<number>, labels: ArrayLike<number>): number {
  // Typed arrays sort by number without a comparison function, ten times as fast.
  const sorted = (isPositive: boolean) =>
    Float64Array.from(scores)
      .filter((_, at) => (labels[at] === 1) === isPositive)
      .sort();
  const positives = sorted(true);
  const negatives = sorted(false);
  let below = 0;
  let upTo = 0;
  let wins = 0;
  for (const score of positives) {
    while (below < negatives.length && negatives[below]! < score) below++;
    upTo = Math.max(upTo, below);
    while (upTo < negatives.length && negatives[upTo]! <= score) upTo++;
    wins += (below + upTo) / 2;
  }
  return wins / (positives.length * negatives.length);
}

/**
 * Mean negative log likelihood of labels under predicted probabilities, in nats. Probabilities are kept
 * 1e-7 from 0 and 1, so that one confident mistake does not make it infinite.
 */
export function logLoss(probabilities: ArrayLike<number>, labels: ArrayLike<number>): number {
  const edge = 1e-7;
  let sum = 0;
  for (let at = 0; at < probabilities.length; at++) {
    const probability = Math.min(1 - edge, Math.max(edge, probabilities[at]!));
    sum -= Math.log(labels[at] === 1 ? probability : 1 - probability);
  }
  return sum / probabilities.length;
}
