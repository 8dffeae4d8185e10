import { sharedF32, sharedU32 } from '../../memory/shared-arrays.ts';
import type { NeighborTable } from '../neighbors/neighbor-table.ts';
import { type SlimTask, slimViews } from './memory-layout.ts';

/**
 * The learned weights turned round, once all threads have ended: the entries of item i are the items that having it
 * speaks for (or against, below zero), the strongest first. So a user's scores are the sums over the rows of its items.
 */
export function slimTable(task: SlimTask, dataFingerprint: number): NeighborTable {
  const { draft } = task;
  const { k, counts } = draft;
  const { rowCount } = task.similarity;
  const { solvedRows } = slimViews(task);
  const starts = sharedU32(rowCount + 1);
  const visit = (see: (item: number, target: number, weight: number) => void) => {
    for (let row = 0; row < draft.rowCount; row++) {
      const first = row * k;
      for (let at = first; at < first + counts[row]!; at++)
        see(draft.rows[at]!, solvedRows[row]!, draft.scores[at]!);
    }
  };
  visit((item) => {
    starts[item + 1] = starts[item + 1]! + 1;
  });
  for (let row = 0; row < rowCount; row++) starts[row + 1] = starts[row + 1]! + starts[row]!;
  const next = starts.slice();
  const rows = sharedU32(starts[rowCount]!);
  const scores = sharedF32(starts[rowCount]!);
  visit((item, target, weight) => {
    const at = next[item]!;
    next[item] = at + 1;
    rows[at] = target;
    scores[at] = weight;
  });
  for (let row = 0; row < rowCount; row++) {
    sortEntries(rows.subarray(starts[row], starts[row + 1]), scores.subarray(starts[row], starts[row + 1]));
  }
  return { rowCount, fingerprint: dataFingerprint, recall: 1, starts, rows, scores };
}

/** Sorts by score, descending; of equal ones the lower row first. */
function sortEntries(rows: Uint32Array, scores: Float32Array): void {
  const order = Uint32Array.from(rows.keys());
  order.sort((a, b) => scores[b]! - scores[a]! || rows[a]! - rows[b]!);
  const [oldRows, oldScores] = [rows.slice(), scores.slice()];
  order.forEach((from, at) => {
    rows[at] = oldRows[from]!;
    scores[at] = oldScores[from]!;
  });
}
