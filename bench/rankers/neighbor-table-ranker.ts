import type { CompressedMatrix } from '../../src/dataset/interactions.ts';
import { rowIndices } from '../../src/dataset/interactions.ts';
import { type Ranker, topRows } from '../../src/model/evaluation/ranker.ts';
import { type NeighborTable, neighborsAt } from '../../src/model/neighbors/neighbor-table.ts';

/**
 * Ranks items for a user by the sum of the entries over the rows of the items that the user has. Scores may be below
 * zero; an item that no row names is not ranked, and scores 0 when it is asked for.
 */
export function createTableRanker(table: NeighborTable, byUser: CompressedMatrix): Ranker {
  const scores = new Float32Array(byUser.columnCount);
  const scoreUser = (userRow: number, unnamed: number) => {
    scores.fill(unnamed);
    if (userRow >= byUser.rowCount) return;
    for (const itemRow of rowIndices(byUser, userRow)) {
      const neighbors = neighborsAt(table, itemRow);
      for (let at = 0; at < neighbors.rows.length; at++) {
        const row = neighbors.rows[at]!;
        const score = scores[row]!;
        scores[row] = (score === unnamed ? 0 : score) + neighbors.scores[at]!;
      }
    }
  };
  return {
    topItems: (userRow, k, excluded) => {
      scoreUser(userRow, Number.NEGATIVE_INFINITY);
      return topRows(scores, k, excluded);
    },
    scoreItems: (userRow, itemRows, out) => {
      scoreUser(userRow, 0);
      for (let at = 0; at < itemRows.length; at++) out[at] = scores[itemRows[at]!] ?? 0;
    },
  };
}
