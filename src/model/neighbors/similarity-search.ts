/**
 * Rows most like a row, by the elements that both have: the score is that of `similarity.ts`, with the weights and norms that
 * were placed. The lists are exact: by comparing with all rows, which costs the sum of N_x over the row's elements, or
 * with an index (`index-plan.ts`) by bounds.
 */
import type { Kernels } from '../../kernel/kernels.ts';
import { arrayOf, rowOf, rowOffset, viewOf } from '../../memory/memory-layout.ts';
import { BLOCK_ROWS, outEntries, type PlacedSimilarity, paddedRowCount, queryRow } from './memory-layout.ts';

/** Rows and their scores, best first; of equal scores the lower row first. */
export interface RankedRows {
  readonly rows: Uint32Array;
  readonly scores: Float32Array;
}

/** Is handed a row and its neighbors; they are views of memory that the next block overwrites. */
export type VisitNeighbors = (row: number, neighbors: RankedRows) => void;

/** One thread's search over a placed similarity. */
export class SimilaritySearch {
  readonly placed: PlacedSimilarity;
  readonly #kernels: Kernels;
  readonly #slot: number;
  readonly #outRows: Uint32Array<SharedArrayBuffer>;
  readonly #outScores: Float32Array<SharedArrayBuffer>;
  readonly #outCounts: Uint32Array<SharedArrayBuffer>;

  readonly #workShare: number | undefined;
  #work = 0;

  /**
   * @param kernels over the similarity's memory
   * @param slot this thread's number, below `placed.slots`; no two threads share one
   * @param workShare uses the index that was placed, up to this share of the work in full (`PrunedNeighborTopK`); not when absent
   */
  constructor(placed: PlacedSimilarity, kernels: Kernels, slot: number, workShare?: number) {
    if (!(slot >= 0 && slot < placed.slots)) throw new RangeError(`slot ${slot} of ${placed.slots}`);
    this.placed = placed;
    this.#kernels = kernels;
    this.#slot = slot;
    this.#workShare = workShare;
    const { memory, layout } = placed;
    this.#outRows = rowOf(memory, layout, 'outRows', slot, 'u32');
    this.#outScores = rowOf(memory, layout, 'outScores', slot, 'f32');
    this.#outCounts = rowOf(memory, layout, 'outCounts', slot, 'u32');
  }

  /** Cost of searches with the index so far, in about as many additions of searches without it. */
  get work(): number {
    return this.#work;
  }

  /** The neighbors of one row, at most `k`; a copy. @throws RangeError when the row is not one of the placed */
  neighborsOf(row: number, k: number): RankedRows {
    if (!(row >= 0 && row < this.placed.rowCount)) {
      throw new RangeError(`row ${row} of ${this.placed.rowCount}`);
    }
    let found = NOTHING;
    this.topRows(row, row + 1, k, (_row, neighbors) => (found = copy(neighbors, k)));
    return found;
  }

  /**
   * The neighbors of a row that has the given elements and need not be one of the placed: a new one, or one that
   * changed since. Elements that were not placed are passed over.
   * @param exceptRow never listed, the placed form of the row itself; -1 for none
   */
  neighborsOfElements(elements: Iterable<number>, k: number, exceptRow = -1): RankedRows {
    const { memory, layout, entryCount, elementCount } = this.placed;
    const known = new Set<number>();
    for (const element of elements) if (element >= 0 && element < elementCount) known.add(element);
    const row = queryRow(this.placed, this.#slot);
    const start = entryCount + this.#slot * elementCount;
    viewOf(memory, layout, 'columns', 'u32').set(Uint32Array.from(known).sort(), start);
    viewOf(memory, layout, 'starts', 'u32').set([start, start + known.size], row);
    const weights = viewOf(memory, layout, 'weights', 'f32');
    let sum = 0;
    for (const element of known) sum += weights[element]!;
    viewOf(memory, layout, 'norms', 'f32')[row] = sum > 0 ? Math.sqrt(sum) : 1;
    let found = NOTHING;
    const room = exceptRow < 0 ? k : k + 1;
    this.topRows(row, row + 1, room, (_row, neighbors) => {
      found = copy(without(neighbors, exceptRow), k);
    });
    return found;
  }

  /** Finds the neighbors of rows [firstRow, endRow), at most `k` each. */
  topRows(firstRow: number, endRow: number, k: number, visit: VisitNeighbors): void {
    const entries = outEntries(this.placed.listLengthMax);
    if (!(Number.isInteger(k) && k >= 1 && k <= entries)) {
      throw new RangeError(`${k} neighbors; there is room for 1 to ${entries}`);
    }
    const block = Math.min(BLOCK_ROWS, Math.floor(entries / k));
    for (let first = firstRow; first < endRow; first += block) {
      const end = Math.min(endRow, first + block);
      this.#compare(first, end, k);
      for (let row = first; row < end; row++) {
        const from = (row - first) * k;
        const to = from + this.#outCounts[row - first]!;
        visit(row, { rows: this.#outRows.subarray(from, to), scores: this.#outScores.subarray(from, to) });
      }
    }
  }

  #compare(firstRow: number, endRow: number, k: number) {
    const { layout, shrink } = this.placed;
    const offset = (name: string) => arrayOf(layout, name).offset;
    const job = {
      starts: offset('starts'),
      columns: offset('columns'),
      otherStarts: offset('elementStarts'),
      otherColumns: offset('elementRows'),
      columnWeights: offset('weights'),
      norms: offset('norms'),
      overlapShrink: shrink,
      rows: paddedRowCount(this.placed),
      firstRow,
      endRow,
      k,
      outRows: this.#outRows.byteOffset,
      outScores: this.#outScores.byteOffset,
      outCounts: this.#outCounts.byteOffset,
      scratch: rowOffset(layout, 'scratch', this.#slot),
    };
    if (this.#workShare === undefined) {
      this.#kernels.neighborTopK({ ...job, shrink: 0 });
      return;
    }
    this.#work += this.#kernels.prunedNeighborTopK({
      ...job,
      records: offset('records'),
      ranks: this.placed.rowCount,
      rankLists: offset('rankLists'),
      bitmapOf: offset('bitmapOf'),
      bitmaps: offset('bitmaps'),
      workShare: this.#workShare,
    });
  }
}

const NOTHING: RankedRows = { rows: new Uint32Array(0), scores: new Float32Array(0) };

function copy({ rows, scores }: RankedRows, k: number): RankedRows {
  return { rows: Uint32Array.from(rows.subarray(0, k)), scores: Float32Array.from(scores.subarray(0, k)) };
}

function without({ rows, scores }: RankedRows, row: number): RankedRows {
  return { rows: rows.filter((other) => other !== row), scores: scores.filter((_, at) => rows[at] !== row) };
}
