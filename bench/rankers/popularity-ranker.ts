import type { CompressedMatrix } from '../../src/dataset/interactions.ts';
import { type Ranker, topRows } from '../../src/model/evaluation/ranker.ts';

/** Ranks every user's items by how many users took them up: the list that a personal model has to beat. */
export function createPopularityRanker(byItem: CompressedMatrix): Ranker {
  const scores = new Float32Array(byItem.rowCount);
  for (let row = 0; row < scores.length; row++) scores[row] = byItem.indptr[row + 1]! - byItem.indptr[row]!;
  return {
    topItems: (_userRow, k, excluded) => topRows(scores, k, excluded),
    scoreItems: (_userRow, itemRows, out) => {
      for (let at = 0; at < itemRows.length; at++) out[at] = scores[itemRows[at]!] ?? 0;
    },
  };
}
