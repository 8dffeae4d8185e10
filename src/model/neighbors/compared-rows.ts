import type { LabelsOf } from '../../dataset/training-data.ts';
import type { NeighborType } from '../../domain/neighbor-type.ts';
import { placeOf } from '../../memory/binary-search.ts';
import { sharedU32 } from '../../memory/shared-arrays.ts';
import { type Incidence, spreadRows } from './incidence.ts';

/** Compared rows of the store, ascending. */
export interface ComparedRows {
  readonly rows: Uint32Array;
  /** The incidence of the rows with feedback as one of all rows compared. */
  spread(incidence: Incidence): Incidence;
}

/**
 * The rows that a policy compares: those with feedback, and where labels count those that have any.
 * @param known rows of the store with feedback, ascending
 * @param rowCount rows that the store had given
 */
export function comparedRows(
  policy: NeighborType,
  known: Uint32Array,
  rowCount: number,
  labelsOf: () => LabelsOf,
): ComparedRows {
  if (policy === 'related') return { rows: known, spread: (incidence) => incidence };
  const labels = labelsOf();
  const all = sharedU32(rowCount);
  let count = 0;
  for (let row = 0, next = 0; row < rowCount; row++) {
    const isKnown = known[next] === row;
    if (isKnown) next++;
    if (isKnown || labels(row).length > 0) all[count++] = row;
  }
  const rows = all.subarray(0, count);
  return {
    rows,
    spread(incidence) {
      if (count === known.length) return incidence;
      return spreadRows(
        incidence,
        known.map((row) => placeOf(rows, row)),
        count,
      );
    },
  };
}
