import { type CompressedMatrix, rowIndices } from '../../dataset/interactions.ts';
import { getOrPut } from '../../domain/get-or-put.ts';
import { type Estimate, estimate } from './confidence-interval.ts';
import { hitRate, ndcg, precision, recall, reciprocalRank } from './metrics.ts';
import type { Ranker } from './ranker.ts';

/** The outcome by metric name, such as `NDCG@10`, with the number of users it rests on. */
export interface Evaluation {
  readonly userCount: number;
  readonly metrics: ReadonlyMap<string, Estimate>;
}

/** Measures of the lists of some users: plain data, so that threads may share the users of an evaluation. */
export interface EvaluationPart {
  readonly userCount: number;
  /** A value for each of the users by metric name. */
  readonly values: ReadonlyMap<string, readonly number[]>;
  /** For each cut-off, 1 at every item that stands in a list. */
  readonly shown: readonly Uint8Array[];
}

/**
 * Ranks the whole catalogue for users with held-out items, leaving out the items seen in training: those with rows from
 * `first` up to `end`, at most `limit`. NDCG, recall, precision, hit rate and MRR at each cut-off.
 * @param cutoffs list lengths, each at least 1
 */
export function evaluateUsers(
  ranker: Ranker,
  train: CompressedMatrix,
  test: CompressedMatrix,
  cutoffs: readonly number[],
  { first, end, limit = end }: { readonly first: number; readonly end: number; readonly limit?: number },
): EvaluationPart {
  const values = new Map<string, number[]>();
  const shown = cutoffs.map(() => new Uint8Array(test.columnCount));
  const longest = Math.max(...cutoffs);
  let userCount = 0;
  for (let userRow = first; userRow < end && userCount < limit; userRow++) {
    const relevant = new Set(rowIndices(test, userRow));
    if (relevant.size === 0) continue;
    userCount++;
    const list = ranker.topItems(userRow, longest, rowIndices(train, userRow));
    const hits = Array.from(list, (itemRow) => relevant.has(itemRow));
    cutoffs.forEach((k, at) => {
      pushMetrics(values, hits, k, relevant.size);
      for (const itemRow of list.subarray(0, k)) shown[at]![itemRow] = 1;
    });
  }
  return { userCount, values, shown };
}

/**
 * Puts parts together, which are about other users each; the parts' order sets the last bits of the means. `Coverage@k`
 * is the share of the catalogue that stands in at least one list, without a confidence interval.
 */
export function mergeParts(parts: readonly EvaluationPart[], cutoffs: readonly number[]): Evaluation {
  const values = new Map<string, number[]>();
  for (const part of parts) {
    for (const [name, list] of part.values) values.set(name, (values.get(name) ?? []).concat(list));
  }
  const metrics = estimates(values);
  cutoffs.forEach((k, at) => {
    const flags = parts.map(({ shown }) => shown[at]!);
    const itemCount = flags[0]?.length ?? 0;
    let covered = 0;
    for (let item = 0; item < itemCount; item++) if (flags.some((shown) => shown[item] === 1)) covered++;
    metrics.set(`Coverage@${k}`, { mean: covered / Math.max(1, itemCount), halfWidth: 0 });
  });
  return { userCount: parts.reduce((sum, { userCount }) => sum + userCount, 0), metrics };
}

function pushMetrics(values: Map<string, number[]>, hits: boolean[], k: number, relevantCount: number): void {
  push(values, `NDCG@${k}`, ndcg(hits, k, relevantCount));
  push(values, `Recall@${k}`, recall(hits, k, relevantCount));
  push(values, `Precision@${k}`, precision(hits, k));
  push(values, `HR@${k}`, hitRate(hits, k));
  push(values, `MRR@${k}`, reciprocalRank(hits, k));
}

function push(values: Map<string, number[]>, name: string, value: number): void {
  getOrPut(values, name, () => []).push(value);
}

function estimates(values: Map<string, number[]>): Map<string, Estimate> {
  return new Map(Array.from(values, ([name, list]) => [name, estimate(list)]));
}
