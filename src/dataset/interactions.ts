/**
 * Positive feedback as a sparse matrix of user rows by item rows, compressed along both sides: by user
 * (CSR) for solving users, by item (CSC) for solving items.
 */
import { FurzeError } from '../domain/furze-error.ts';

/**
 * One orientation: the entries of row r are `indices[indptr[r]] .. indices[indptr[r + 1] - 1]`, ascending
 * and distinct; `weights` runs beside `indices`, null when every entry weighs 1.
 */
export interface CompressedMatrix {
  readonly rowCount: number;
  readonly columnCount: number;
  readonly indptr: Uint32Array;
  readonly indices: Uint32Array;
  readonly weights: Float32Array | null;
}

/** The same entries in both orientations. */
export interface Interactions {
  readonly userCount: number;
  readonly itemCount: number;
  /** Distinct user-item pairs. */
  readonly count: number;
  readonly byUser: CompressedMatrix;
  readonly byItem: CompressedMatrix;
}

/** Columns of records, in any order; pairs may repeat. */
export interface InteractionColumns {
  readonly userCount: number;
  readonly itemCount: number;
  readonly userRows: ArrayLike<number>;
  readonly itemRows: ArrayLike<number>;
  /** Confidence of each record, positive and finite; of a repeated pair the largest is kept. */
  readonly weights?: ArrayLike<number>;
}

/**
 * Builds both orientations from columns of records by two counting sorts (no comparison, linear time).
 * @throws FurzeError BAD_REQUEST when the columns differ in length, a row is out of range or a weight is
 * not a positive finite number.
 */
export function buildInteractions(columns: InteractionColumns): Interactions {
  checkColumns(columns);
  const { userCount, itemCount } = columns;
  const sorted = sortByPair(columns);
  const count = mergeRepeated(sorted);
  const byUser = compress(userCount, itemCount, count, sorted.userRows, sorted.itemRows, sorted.weights);
  return { userCount, itemCount, count, byUser, byItem: transpose(byUser) };
}

interface SortedColumns {
  readonly userRows: Uint32Array;
  readonly itemRows: Uint32Array;
  readonly weights: Float32Array | null;
}

function checkColumns({ userCount, itemCount, userRows, itemRows, weights }: InteractionColumns): void {
  if (userRows.length !== itemRows.length || (weights !== undefined && weights.length !== userRows.length)) {
    throw new FurzeError('BAD_REQUEST', 'the columns of an interaction matrix differ in length');
  }
  for (let at = 0; at < userRows.length; at++) {
    const user = userRows[at] as number;
    const item = itemRows[at] as number;
    if (!(user >= 0 && user < userCount && item >= 0 && item < itemCount)) {
      throw new FurzeError(
        'BAD_REQUEST',
        `record ${at}: the pair (${user}, ${item}) lies outside ${userCount} x ${itemCount}`,
      );
    }
    if (weights !== undefined && !((weights[at] as number) > 0 && Number.isFinite(weights[at]))) {
      throw new FurzeError(
        'BAD_REQUEST',
        `record ${at}: the weight ${weights[at]} is not a positive finite number`,
      );
    }
  }
}

/** A stable order of records by `keys`. */
function countingOrder(keys: ArrayLike<number>, keyCount: number, before: Uint32Array | null): Uint32Array {
  const starts = new Uint32Array(keyCount + 1);
  for (let at = 0; at < keys.length; at++) {
    const key = (keys[at] as number) + 1;
    starts[key] = (starts[key] as number) + 1;
  }
  for (let key = 0; key < keyCount; key++)
    starts[key + 1] = (starts[key + 1] as number) + (starts[key] as number);
  const order = new Uint32Array(keys.length);
  for (let place = 0; place < keys.length; place++) {
    const record = before === null ? place : (before[place] as number);
    const key = keys[record] as number;
    const slot = starts[key] as number;
    order[slot] = record;
    starts[key] = slot + 1;
  }
  return order;
}

function sortByPair({
  userCount,
  itemCount,
  userRows,
  itemRows,
  weights,
}: InteractionColumns): SortedColumns {
  const order = countingOrder(userRows, userCount, countingOrder(itemRows, itemCount, null));
  const sorted: SortedColumns = {
    userRows: new Uint32Array(order.length),
    itemRows: new Uint32Array(order.length),
    weights: weights === undefined ? null : new Float32Array(order.length),
  };
  for (let place = 0; place < order.length; place++) {
    const record = order[place] as number;
    sorted.userRows[place] = userRows[record] as number;
    sorted.itemRows[place] = itemRows[record] as number;
    if (weights !== undefined && sorted.weights !== null) sorted.weights[place] = weights[record] as number;
  }
  return sorted;
}

/** Keeps one of each pair, with its largest weight, at the front of the columns; returns how many. */
function mergeRepeated({ userRows, itemRows, weights }: SortedColumns): number {
  let count = 0;
  for (let at = 0; at < userRows.length; at++) {
    const user = userRows[at] as number;
    const item = itemRows[at] as number;
    if (count > 0 && userRows[count - 1] === user && itemRows[count - 1] === item) {
      if (weights !== null)
        weights[count - 1] = Math.max(weights[count - 1] as number, weights[at] as number);
      continue;
    }
    userRows[count] = user;
    itemRows[count] = item;
    if (weights !== null) weights[count] = weights[at] as number;
    count++;
  }
  return count;
}

function compress(
  rowCount: number,
  columnCount: number,
  count: number,
  rows: Uint32Array,
  columns: Uint32Array,
  weights: Float32Array | null,
): CompressedMatrix {
  const indptr = new Uint32Array(rowCount + 1);
  for (let at = 0; at < count; at++) {
    const row = (rows[at] as number) + 1;
    indptr[row] = (indptr[row] as number) + 1;
  }
  for (let row = 0; row < rowCount; row++)
    indptr[row + 1] = (indptr[row + 1] as number) + (indptr[row] as number);
  return {
    rowCount,
    columnCount,
    indptr,
    indices: columns.slice(0, count),
    weights: weights === null ? null : weights.slice(0, count),
  };
}

/**
 * The other orientation of a matrix; indices come out ascending because rows are walked in order.
 * @param allocate makes the room for its arrays
 */
export function transpose(
  matrix: CompressedMatrix,
  allocate: (bytes: number) => ArrayBufferLike = (bytes) => new ArrayBuffer(bytes),
): CompressedMatrix {
  const { rowCount, columnCount } = matrix;
  const count = matrix.indices.length;
  const indptr = new Uint32Array(allocate((columnCount + 1) * 4));
  for (let at = 0; at < count; at++) {
    const column = (matrix.indices[at] as number) + 1;
    indptr[column] = (indptr[column] as number) + 1;
  }
  for (let column = 0; column < columnCount; column++) {
    indptr[column + 1] = (indptr[column + 1] as number) + (indptr[column] as number);
  }
  const next = indptr.slice(0, columnCount);
  const indices = new Uint32Array(allocate(count * 4));
  const weights = matrix.weights === null ? null : new Float32Array(allocate(count * 4));
  for (let row = 0; row < rowCount; row++) {
    const end = matrix.indptr[row + 1] as number;
    for (let at = matrix.indptr[row] as number; at < end; at++) {
      const column = matrix.indices[at] as number;
      const slot = next[column] as number;
      next[column] = slot + 1;
      indices[slot] = row;
      if (weights !== null && matrix.weights !== null) weights[slot] = matrix.weights[at] as number;
    }
  }
  return { rowCount: columnCount, columnCount: rowCount, indptr, indices, weights };
}

/** The column numbers of one row, ascending, as a view. */
export function rowIndices(matrix: CompressedMatrix, row: number): Uint32Array {
  return matrix.indices.subarray(matrix.indptr[row] as number, matrix.indptr[row + 1] as number);
}
