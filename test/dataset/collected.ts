import type { TimedPairs } from '../../bench/quality/hold-out.ts';
import { type CollectOptions, collectTrainingData } from '../../src/dataset/collect-training-data.ts';
import type { TrainingData } from '../../src/dataset/training-data.ts';

/** What is collected of columns, which are put in the order in which a store hands feedback out. */
export function collected(
  { userRows, itemRows, times, weights }: TimedPairs & { readonly weights?: ArrayLike<number> },
  options: Partial<CollectOptions> = {},
): TrainingData {
  const order = Array.from({ length: userRows.length }, (_, at) => at);
  order.sort((a, b) => userRows[a]! - userRows[b]! || itemRows[a]! - itemRows[b]! || a - b);
  const rowCount = (rows: ArrayLike<number>) =>
    1 + Array.from(rows).reduce((most, row) => Math.max(most, row), -1);
  return collectTrainingData(
    (visit) => {
      for (const at of order) visit(userRows[at]!, itemRows[at]!, times[at]!, weights?.[at] ?? 1);
    },
    {
      userRowCount: rowCount(userRows),
      itemRowCount: rowCount(itemRows),
      weighted: weights !== undefined,
      leavesOut: true,
      seed: 1,
      ...options,
    },
  )!;
}
