/** Which rows have which elements: items and their labels, items and their users, users and their items. */
import {
  type CompressedMatrix,
  type Interactions,
  rowIndices,
  transpose,
} from '../../dataset/interactions.ts';

/** The same entries in both orientations; weights of entries are not looked at. */
export interface Incidence {
  /** Rows x elements. */
  readonly rows: CompressedMatrix;
  /** Elements x rows. */
  readonly elements: CompressedMatrix;
}

/** An incidence whose elements are words. */
export interface LabelIncidence extends Incidence {
  /** The element number of each label. */
  readonly elementOf: ReadonlyMap<string, number>;
}

/** Items are alike that the same users like. */
export function itemsByUsers({ byItem, byUser }: Interactions): Incidence {
  return { rows: byItem, elements: byUser };
}

/** Users are alike that like the same items. */
export function usersByItems({ byItem, byUser }: Interactions): Incidence {
  return { rows: byUser, elements: byItem };
}

/**
 * The same incidence with rows between its own that have no element.
 * @param places where each row goes, ascending
 */
export function spreadRows({ rows, elements }: Incidence, places: Uint32Array, rowCount: number): Incidence {
  const indptr = new Uint32Array(rowCount + 1);
  for (let at = 0, row = 0; row <= rowCount; row++) {
    while (at < places.length && places[at]! < row) at++;
    indptr[row] = rows.indptr[at]!;
  }
  const indices = elements.indices.map((row) => places[row]!);
  return {
    rows: { ...rows, rowCount, indptr },
    elements: { ...elements, columnCount: rowCount, indices },
  };
}

/** The same incidence with its rows in another order. @param order the row that goes to each place */
export function orderRows({ rows }: Incidence, order: Uint32Array): Incidence {
  const indptr = new Uint32Array(order.length + 1);
  const indices = new Uint32Array(rows.indices.length);
  order.forEach((row, place) => {
    const own = rowIndices(rows, row);
    indices.set(own, indptr[place]);
    indptr[place + 1] = indptr[place]! + own.length;
  });
  const ordered = { ...rows, indptr, indices, weights: null };
  return { rows: ordered, elements: transpose(ordered) };
}

/**
 * Rows are alike that have the same labels. A label that stands twice on one row counts once; elements are numbered in
 * the order in which their labels are first met.
 */
export function incidenceOfLabels(
  labelsOf: (row: number) => readonly string[],
  rowCount: number,
): LabelIncidence {
  const elementOf = new Map<string, number>();
  const indptr = new Uint32Array(rowCount + 1);
  const indices: number[] = [];
  for (let row = 0; row < rowCount; row++) {
    const elements = new Set<number>();
    for (const label of labelsOf(row)) {
      let element = elementOf.get(label);
      if (element === undefined) elementOf.set(label, (element = elementOf.size));
      elements.add(element);
    }
    for (const element of [...elements].sort((a, b) => a - b)) indices.push(element);
    indptr[row + 1] = indices.length;
  }
  const rows: CompressedMatrix = {
    rowCount,
    columnCount: elementOf.size,
    indptr,
    indices: Uint32Array.from(indices),
    weights: null,
  };
  return { rows, elements: transpose(rows), elementOf };
}
