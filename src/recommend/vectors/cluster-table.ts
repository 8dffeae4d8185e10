import type { Kernels } from '../../kernel/kernels.ts';
import type { InstantiateKernels } from '../../kernel/scratch-sizes.ts';
import { createGrowingMemory } from '../../memory/shared-memory.ts';
import { spreadEvenly } from '../../memory/spread-evenly.ts';
import { packVector } from './packed-numbers.ts';
import { listsByNearness } from './probe-lists.ts';
import { scanTable } from './scan-table.ts';
import {
  type ClusteredTable,
  layoutOf,
  NO_ROW,
  scratchAt,
  type TableLayout,
  type TablePlace,
} from './vector-table.ts';

/** Lists of a table: about the root of its vectors, within these. */
const LISTS_MIN = 8;
const LISTS_MAX = 2048;
/** Vectors a list that the centers are learned from, and how often all of these are looked at. */
const SAMPLE_A_LIST = 64;
const ROUNDS = 4;
/** Centers compared between two looks at the best so far. */
const BLOCK_CENTERS = 128;
/** Part of the nearest that a search should find, of so many, and vectors that tell what that takes. */
const RECALL = 0.985;
const ASKED_NEAREST = 100;
const ASKED_ROWS = 128;
/** Vectors between two pauses. */
const STEP_VECTORS = 64;

/**
 * Puts the vectors of a space of cosines into lists, each around a center, with pauses: spherical k-means (Dhillon and Modha
 * 2001) on a sample. Rows alone tell the result, not the order in which they were written.
 * @param place of a table that others may write meanwhile: what they change is theirs to bring up to date
 */
export function* clusterTable(
  place: TablePlace,
  instantiate: InstantiateKernels,
): Generator<undefined, ClusteredTable> {
  const rows = Uint32Array.from(rowsOf(place));
  const listCount = Math.min(LISTS_MAX, Math.max(LISTS_MIN, Math.round(Math.sqrt(rows.length))));
  const layout = layoutOf(place);
  const memory = createGrowingMemory(layout.records + (listCount + rows.length) * layout.recordBytes);
  const centers = new Centers(place, memory, instantiate(memory), listCount, layout);
  yield* centers.learn(spreadEvenly(rows, SAMPLE_A_LIST * listCount));
  const listOf = new Uint16Array(rows.length);
  const starts = new Uint32Array(new SharedArrayBuffer(4 * (listCount + 1)));
  for (let at = 0; at < rows.length; at++) {
    listOf[at] = centers.nearest(rows[at]!);
    starts[listOf[at]! + 1]!++;
    if (at % STEP_VECTORS === STEP_VECTORS - 1) yield;
  }
  starts[0] = listCount;
  for (let list = 0; list < listCount; list++) starts[list + 1]! += starts[list]!;
  const places = new Uint32Array(new SharedArrayBuffer(4 * place.places.length));
  const next = starts.slice();
  for (let at = 0; at < rows.length; at++) {
    const to = next[listOf[at]!]!++;
    if (!centers.copy(rows[at]!, to)) continue;
    places[rows[at]!] = to + 1;
    if (at % STEP_VECTORS === STEP_VECTORS - 1) yield;
  }
  const lists = { ...place, memory, places, starts, count: starts[listCount]! };
  // Each stands behind one that centers were learned from, whose own list is nearer than those of others are.
  const asked = spreadEvenly(rows, ASKED_ROWS, 1);
  const share = yield* shareToLookAt(lists, centers.kernels, asked, layout);
  return { memory, places, starts, share };
}

/**
 * The share of vectors that a search looks at, list by list, until it has that part of the nearest of a vector which it
 * should: told by some of the vectors themselves.
 */
function* shareToLookAt(
  lists: TablePlace & { readonly starts: Uint32Array },
  kernels: Kernels,
  asked: readonly number[],
  { length, records, recordBytes }: TableLayout,
): Generator<undefined, number> {
  const { memory, places, dimensions, starts } = lists;
  const [first, end] = [starts[0]!, starts.at(-1)!];
  const shares: number[] = [];
  for (const row of asked) {
    if (places[row] === 0) continue;
    const at = records + (places[row]! - 1) * recordBytes;
    const query = Float32Array.from(new Int8Array(memory.buffer, at, dimensions));
    const accept = (other: number) => other !== row;
    const all = { ...lists, starts: undefined };
    const { rows } = yield* scanTable(all, kernels, { query, k: ASKED_NEAREST, accept, scratch: 0 });
    // The query is packed there.
    const order = listsByNearness(lists, kernels, scratchAt(length, 0), 1);
    const seenBefore = new Float64Array(order.length);
    let seen = 0;
    for (const list of order) {
      seen += starts[list + 1]! - starts[list]!;
      seenBefore[list] = seen / (end - first);
    }
    for (const other of rows) shares.push(seenBefore[listAt(starts, places[other]! - 1)]!);
  }
  shares.sort((one, other) => one - other);
  return shares[Math.ceil(RECALL * shares.length) - 1] ?? 1;
}

/** The list that a place is in. */
function listAt(starts: Uint32Array, place: number): number {
  let from = 0;
  let to = starts.length - 1;
  while (from + 1 < to) {
    const middle = (from + to) >>> 1;
    if (starts[middle]! <= place) from = middle;
    else to = middle;
  }
  return from;
}

/** The centers of a table's lists in the memory of the new one. */
class Centers {
  private readonly place: TablePlace;
  private readonly memory: WebAssembly.Memory;
  readonly kernels: Kernels;
  private readonly count: number;
  private readonly layout: TableLayout;
  private readonly from: Int8Array;
  private readonly to: Int8Array;

  constructor(
    place: TablePlace,
    memory: WebAssembly.Memory,
    kernels: Kernels,
    count: number,
    layout: TableLayout,
  ) {
    this.place = place;
    this.memory = memory;
    this.kernels = kernels;
    this.count = count;
    this.layout = layout;
    this.from = new Int8Array(place.memory.buffer);
    this.to = new Int8Array(memory.buffer);
  }

  *learn(sample: readonly number[]): Generator<undefined, void> {
    const { dimensions } = this.place;
    for (const [list, row] of spreadEvenly(sample, this.count).entries()) this.copy(row, list, NO_ROW);
    for (let round = 0; round < ROUNDS; round++) {
      const sums = new Float64Array(this.count * dimensions);
      for (const [at, row] of sample.entries()) {
        const first = this.nearest(row) * dimensions;
        const record = this.offsetOf(row);
        const [scale] = new Float32Array(this.place.memory.buffer, record + this.layout.length, 1);
        for (let number = 0; number < dimensions; number++)
          sums[first + number]! += scale! * this.from[record + number]!;
        if (at % STEP_VECTORS === STEP_VECTORS - 1) yield;
      }
      for (let list = 0; list < this.count; list++)
        this.move(list, Float32Array.from(sums.subarray(list * dimensions, (list + 1) * dimensions)));
    }
  }

  /** The list whose center is nearest the vector of a row. */
  nearest(row: number): number {
    const { length, records, recordBytes } = this.layout;
    const { queries, ...out } = scratchAt(length, 0);
    const { buffer } = this.memory;
    const record = this.offsetOf(row);
    new Int16Array(buffer, queries, length).set(this.from.subarray(record, record + length));
    let best = 0;
    let threshold = Number.NEGATIVE_INFINITY;
    for (let first = 0; first < this.count; first += BLOCK_CENTERS) {
      const count = Math.min(BLOCK_CENTERS, this.count - first);
      const block = { records: records + first * recordBytes, count, length };
      const found = this.kernels.scanBytes({ ...out, ...block, query: queries, queryScale: 1, threshold });
      const scores = new Float32Array(buffer, out.outScores, found);
      const places = new Uint32Array(buffer, out.outPlaces, found);
      for (let at = 0; at < found; at++) {
        if (!(scores[at]! > threshold)) continue;
        threshold = scores[at]!;
        best = first + places[at]!;
      }
    }
    return best;
  }

  /** Copies the record of a row to a place of the new table. @returns false where it is gone */
  copy(row: number, to: number, asRow = row): boolean {
    const { length, records, recordBytes } = this.layout;
    const at = records + to * recordBytes;
    const place = this.place.places[row]!;
    if (place > 0) {
      const record = this.offsetOf(row);
      this.to.set(this.from.subarray(record, record + recordBytes), at);
    }
    new Uint32Array(this.memory.buffer, at + length + 8, 1)[0] = place > 0 ? asRow : NO_ROW;
    return place > 0;
  }

  /** Puts a center where its vectors are; one without any stays. */
  private move(list: number, sum: Float32Array): void {
    if (sum.every((number) => number === 0)) return;
    const { length, records, recordBytes } = this.layout;
    const at = records + list * recordBytes;
    const { buffer } = this.memory;
    const { scale, offset } = packVector(sum, 'cosine', new Int8Array(buffer, at, sum.length));
    new Float32Array(buffer, at + length, 2).set([scale, offset]);
  }

  private offsetOf(row: number): number {
    return this.layout.records + (this.place.places[row]! - 1) * this.layout.recordBytes;
  }
}

function* rowsOf({ places }: TablePlace): Generator<number> {
  for (let row = 0; row < places.length; row++) if (places[row]! > 0) yield row;
}
