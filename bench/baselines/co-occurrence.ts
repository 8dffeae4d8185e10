/**
 * Item neighbors by co-occurrence: for each item the most similar others, all pairs compared exactly.
 * similarity(r, s) = Σ over shared users weight(user) / (norm(r) norm(s) + shrink), with norm the root of the sum
 * of a row's weights: with weight 1 and shrink 0 it is the cosine of the two columns of the matrix.
 */
import type { CompressedMatrix, Interactions } from '../../src/dataset/interactions.ts';
import { rowIndices } from '../../src/dataset/interactions.ts';
import { FurzeError } from '../../src/domain/furze-error.ts';
import { type InstantiateKernels, neighborScratchBytes } from '../../src/kernel/scratch-sizes.ts';
import { ARENA_START, Arena, alignedBytes } from '../../src/memory/arena.ts';
import { createSharedMemory } from '../../src/memory/shared-memory.ts';
import { type Ranker, topRows } from '../../src/model/evaluation/ranker.ts';
import type { Progress } from '../fit-in-thread.ts';

export interface NeighborSettings {
  /** Neighbors kept for an item, 1 to 10,000. */
  readonly neighbors: number;
  /** Added to the product of norms: the larger, the less a rare coincidence counts. 0 or more. */
  readonly shrink: number;
  /** True to count a user by log(1 + items / items of the user), as a rare word in a text, false by 1. */
  readonly idf: boolean;
}

export const NEIGHBOR_DEFAULTS: NeighborSettings = { neighbors: 100, shrink: 20, idf: true };

/** For item r the entries r * k .. r * k + counts[r] - 1, best first. */
export interface NeighborLists {
  readonly k: number;
  readonly rows: Uint32Array;
  readonly scores: Float32Array;
  readonly counts: Uint32Array;
}

/** Item rows worked on between two yields. */
const CHUNK_ROWS = 256;

/**
 * Finds the neighbors of every item in this thread; yields items done after each chunk.
 * @throws FurzeError BAD_REQUEST for a setting out of range
 */
export function* fitNeighbors(
  interactions: Interactions,
  given: Partial<NeighborSettings>,
  instantiate: InstantiateKernels,
): Generator<Progress, NeighborLists> {
  const settings = { ...NEIGHBOR_DEFAULTS, ...given };
  const { neighbors: k, shrink } = settings;
  if (!(Number.isInteger(k) && k >= 1 && k <= 10_000)) {
    throw new FurzeError('BAD_REQUEST', `neighbors is ${k}; it must be an integer from 1 to 10000`);
  }
  if (!(shrink >= 0 && Number.isFinite(shrink))) {
    throw new FurzeError('BAD_REQUEST', `shrink is ${shrink}; it must be a finite number from 0`);
  }
  const { byItem, byUser, itemCount } = interactions;
  const weights = userWeights(byUser, settings.idf);
  const norms = rowNorms(byItem, weights);
  const arrays = [byItem.indptr, byItem.indices, byUser.indptr, byUser.indices, weights, norms] as const;
  const outBytes = [CHUNK_ROWS * k * 4, CHUNK_ROWS * k * 4, CHUNK_ROWS * 4, neighborScratchBytes(itemCount)];
  const sizes = [...arrays.map((array) => array.byteLength), ...outBytes];
  const bytes = sizes.reduce((sum, size) => sum + alignedBytes(size), ARENA_START);
  const arena = new Arena(createSharedMemory(bytes));
  const kernels = instantiate(arena.memory);
  const [starts, columns, otherStarts, otherColumns, columnWeights, normOffset] = arrays.map((array) => {
    const offset = arena.alloc(array.byteLength);
    if (array instanceof Float32Array) arena.f32(offset, array.length).set(array);
    else arena.u32(offset, array.length).set(array);
    return offset;
  }) as [number, number, number, number, number, number];
  const [outRows, outScores, outCounts, scratch] = outBytes.map((size) => arena.alloc(size)) as [
    number,
    number,
    number,
    number,
  ];
  const lists: NeighborLists = {
    k,
    rows: new Uint32Array(itemCount * k),
    scores: new Float32Array(itemCount * k),
    counts: new Uint32Array(itemCount),
  };
  for (let firstRow = 0; firstRow < itemCount; firstRow += CHUNK_ROWS) {
    const endRow = Math.min(itemCount, firstRow + CHUNK_ROWS);
    kernels.neighborTopK({
      starts,
      columns,
      otherStarts,
      otherColumns,
      columnWeights,
      norms: normOffset,
      shrink,
      rows: itemCount,
      firstRow,
      endRow,
      k,
      outRows,
      outScores,
      outCounts,
      scratch,
    });
    const rows = endRow - firstRow;
    lists.rows.set(arena.u32(outRows, rows * k), firstRow * k);
    lists.scores.set(arena.f32(outScores, rows * k), firstRow * k);
    lists.counts.set(arena.u32(outCounts, rows), firstRow);
    yield { done: endRow, total: itemCount };
  }
  return lists;
}

function userWeights(byUser: CompressedMatrix, idf: boolean): Float32Array {
  const weights = new Float32Array(byUser.rowCount).fill(1);
  if (!idf) return weights;
  for (let row = 0; row < weights.length; row++) {
    const count = byUser.indptr[row + 1]! - byUser.indptr[row]!;
    if (count > 0) weights[row] = Math.log1p(byUser.columnCount / count);
  }
  return weights;
}

/** The root of each row's sum of column weights; 1 for an empty row, which meets no other. */
function rowNorms(matrix: CompressedMatrix, columnWeights: Float32Array): Float32Array {
  const norms = new Float32Array(matrix.rowCount);
  for (let row = 0; row < norms.length; row++) {
    let sum = 0;
    for (const column of rowIndices(matrix, row)) sum += columnWeights[column]!;
    norms[row] = sum > 0 ? Math.sqrt(sum) : 1;
  }
  return norms;
}

/** Ranks a user's items by the sum of their similarities to the items that the user has (Sarwar et al. 2001). */
export function createNeighborRanker(lists: NeighborLists, byUser: CompressedMatrix): Ranker {
  const scores = new Float32Array(byUser.columnCount);
  const scoreUser = (userRow: number) => {
    scores.fill(Number.NEGATIVE_INFINITY);
    if (userRow >= byUser.rowCount) return;
    for (const itemRow of rowIndices(byUser, userRow)) {
      const first = itemRow * lists.k;
      for (let at = first; at < first + lists.counts[itemRow]!; at++) {
        const neighbor = lists.rows[at]!;
        const score = scores[neighbor]!;
        scores[neighbor] = Math.max(score, 0) + lists.scores[at]!;
      }
    }
  };
  return {
    topItems: (userRow, k, excluded) => {
      scoreUser(userRow);
      return topRows(scores, k, excluded);
    },
    scoreItems: (userRow, itemRows, out) => {
      scoreUser(userRow);
      for (let at = 0; at < itemRows.length; at++) out[at] = Math.max(0, scores[itemRows[at]!] ?? 0);
    },
  };
}
