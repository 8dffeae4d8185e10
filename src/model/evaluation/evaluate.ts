/** Evaluation protocols over a ranker: the full catalogue, and sampled leave-one-out. */
import type { CompressedMatrix } from '../../dataset/interactions.ts';
import { rowIndices } from '../../dataset/interactions.ts';
import { type Estimate, estimate, hitRate, ndcg, precision, recall, reciprocalRank } from './metrics.ts';
import type { Ranker } from './ranker.ts';

/** The outcome by metric name, such as `NDCG@10`, with the number of users it rests on. */
export interface Evaluation {
  readonly userCount: number;
  readonly metrics: ReadonlyMap<string, Estimate>;
}

/** What the lists of some users measure: plain data, so that threads may share the users of an evaluation. */
export interface EvaluationPart {
  readonly userCount: number;
  /** A value for each of the users by metric name. */
  readonly values: ReadonlyMap<string, readonly number[]>;
  /** For each cut-off, 1 at every item that stands in a list. */
  readonly shown: readonly Uint8Array[];
}

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

/** The part of `evaluateFullCatalogue` that is about the users with rows from `first` up to `end`, at most `limit`. */
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

/** Puts parts together, which are about other users each; the parts' order sets the last bits of the means. */
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
      push(values, `HR@${k}`, rank < k ? 1 : 0);
      push(values, `NDCG@${k}`, rank < k ? 1 / Math.log2(rank + 2) : 0);
      push(values, `MRR@${k}`, rank < k ? 1 / (rank + 1) : 0);
    }
  }
  return { userCount: cases.length, metrics: estimates(values) };
}

function push(values: Map<string, number[]>, name: string, value: number): void {
  const list = values.get(name);
  if (list === undefined) values.set(name, [value]);
  else list.push(value);
}

function estimates(values: Map<string, number[]>): Map<string, Estimate> {
  return new Map(Array.from(values, ([name, list]) => [name, estimate(list)]));
}
