import type { VectorSpace } from '../../domain/vector-space.ts';
import { byteRecordBytes, paddedBytes } from '../../kernel/scratch-sizes.ts';
import { ARENA_START } from '../../memory/arena.ts';
import { createGrowingMemory, growMemory, MEMORY_BYTES_MAX, PAGE_BYTES } from '../../memory/shared-memory.ts';
import { packVector } from './packed-numbers.ts';

/** Records that are scanned at once: some tens of microseconds. */
export const BLOCK_RECORDS = 1024;
/** Queries that a thread has packed at once at most. */
export const QUERIES_MAX = 5;
/** The memory grows by this share, and at least by so many pages. */
const GROWTH = 1 / 8;
const GROWTH_PAGES_MIN = 16;

/** Whole numbers for a length of 1. */
const SUM_UNIT = 2 ** 24;

/** The row of a record that is no item's. */
export const NO_ROW = 0xffff_ffff;

/** Where the vectors of a space are: plain data, for other threads. */
export interface TablePlace {
  readonly memory: WebAssembly.Memory;
  /** Numbers in a vector, without padding. */
  readonly dimensions: number;
  /** Records from the first to the last in use. */
  readonly count: number;
  /** Vectors that belong to a row. */
  readonly size: number;
  /** Scratch regions, one for each thread that looks into the table at a time. */
  readonly scratches: number;
  /** One more than the place of each row's record, 0 for none. */
  readonly places: Uint32Array<SharedArrayBuffer>;
  /** Mean of all vectors at length 1, where the similarity is cosine; else zeros. */
  readonly mean: Float32Array;
  /** See `ClusteredTable`; undefined where vectors lie as they came. */
  readonly starts?: Uint32Array<SharedArrayBuffer> | undefined;
  /** See `ClusteredTable`; 1 without lists. */
  readonly shares: readonly number[];
}

/** A table whose vectors lie beside those near them: an inverted file (Jégou, Douze and Schmid 2011). */
export interface ClusteredTable {
  readonly memory: WebAssembly.Memory;
  /** One more than the place of each row's record, 0 for none. */
  readonly places: Uint32Array<SharedArrayBuffer>;
  /**
   * The place where each list begins, and behind the last where it ends. The centers stand before the first list, one a list,
   * as records of no row.
   */
  readonly starts: Uint32Array<SharedArrayBuffer>;
  /** Share of the vectors in lists that a search has to look at; then where half of all may be found, a quarter, and so on. */
  readonly shares: readonly number[];
}

/** Offsets within a table's memory. */
export interface TableLayout {
  /** Numbers in a record, with padding. */
  readonly length: number;
  readonly recordBytes: number;
  readonly records: number;
}

export function layoutOf({
  dimensions,
  scratches,
}: Pick<TablePlace, 'dimensions' | 'scratches'>): TableLayout {
  const length = paddedBytes(dimensions);
  const records = scratchAt(length, scratches).queries;
  return { length, recordBytes: byteRecordBytes(length), records };
}

/** A thread's scratch: queries one after the other, and what a block has found. */
export function scratchAt(length: number, number: number) {
  const bytes = QUERIES_MAX * 2 * length + 8 * BLOCK_RECORDS;
  const queries = ARENA_START + number * bytes;
  const outPlaces = queries + QUERIES_MAX * 2 * length;
  return { queries, outPlaces, outScores: outPlaces + 4 * BLOCK_RECORDS };
}

/**
 * The vectors of a space in shared memory, a byte a number: dimensions + 16 bytes a vector. Places of vectors that went
 * are given to those that come. At most 4 GiB; what has no room is told.
 */
export class VectorTable {
  readonly space: VectorSpace;
  private readonly layout: TableLayout;
  private memory: WebAssembly.Memory;
  private readonly scratches: number;
  private places = new Uint32Array(new SharedArrayBuffer(256));
  /** Of vectors at length 1, in whole numbers, so that their order does not matter. */
  private readonly sums: Float64Array;
  private mean: Float32Array | undefined;
  private free: number[] = [];
  private count = 0;
  private used = 0;
  /** Records in lists that are no row's any more. */
  private holes = 0;
  private starts: Uint32Array<SharedArrayBuffer> | undefined;
  private shares: readonly number[] = [1];

  /** @param scratches threads that look into it at a time */
  constructor(space: VectorSpace, scratches: number) {
    this.space = space;
    this.scratches = scratches;
    this.layout = layoutOf({ ...space, scratches });
    this.sums = new Float64Array(space.dimensions);
    this.memory = createGrowingMemory(this.layout.records);
  }

  get size(): number {
    return this.used;
  }

  /** Records that lie in no list, and those in lists that are no row's any more: what searches look at for nothing. */
  get strayCount(): number {
    return this.count - this.listsEnd + this.holes;
  }

  private get listsEnd(): number {
    return this.starts?.at(-1) ?? 0;
  }

  /**
   * Takes over the same vectors in lists.
   * @param changed rows that were written or removed since the lists were begun: they are in none, until they are put again
   */
  adopt(clustered: ClusteredTable, changed: Iterable<number>): void {
    const rows = [...changed];
    for (const row of rows) this.remove(row);
    Object.assign(this, clustered, { free: [], holes: 0, count: clustered.starts.at(-1)! });
    for (const row of rows) this.leave(row);
  }

  get bytes(): number {
    return this.count * this.layout.recordBytes;
  }

  get place(): TablePlace {
    const { memory, count, scratches, places, starts, shares, sums, size } = this;
    const { dimensions } = this.space;
    this.mean ??= Float32Array.from(sums, (sum) => (size === 0 ? 0 : sum / SUM_UNIT / size));
    return { memory, dimensions, count, scratches, places, starts, shares, size, mean: this.mean };
  }

  /** @returns false where there is no room for one more */
  put(row: number, vector: Float32Array): boolean {
    // In its list it might be looked for in vain.
    if (this.isInList(row)) this.remove(row);
    const known = this.placeOf(row);
    if (known !== undefined) this.addToSums(known, -1);
    const place = known ?? this.take();
    if (place === undefined) return false;
    if (known === undefined) this.used++;
    const { length } = this.layout;
    const at = this.offsetOf(place);
    const { buffer } = this.memory;
    const { scale, offset } = packVector(
      vector,
      this.space.similarity,
      new Int8Array(buffer, at, vector.length),
    );
    new Float32Array(buffer, at + length, 2).set([scale, offset]);
    // The last: who scans meanwhile passes the record over until it is whole.
    new Uint32Array(buffer, at + length + 8, 1)[0] = row;
    if (row >= this.places.length) this.places = grownShared(this.places, row + 1);
    this.places[row] = place + 1;
    this.addToSums(place, 1);
    return true;
  }

  remove(row: number): void {
    const place = this.placeOf(row);
    if (place === undefined) return;
    this.addToSums(place, -1);
    this.used--;
    this.leave(row);
  }

  /** The vector of a row by its bytes, in spaces of cosines at length 1; undefined for a row without. */
  vectorAt(row: number): Float32Array | undefined {
    const place = this.placeOf(row);
    if (place === undefined) return undefined;
    const { bytes, scale } = this.recordAt(place);
    const unit = this.space.similarity === 'euclidean' ? scale / 2 : scale;
    return Float32Array.from(bytes, (byte) => byte * unit);
  }

  /** Makes the record of a row no row's. */
  private leave(row: number): void {
    const place = this.placeOf(row);
    if (place === undefined) return;
    const isInList = this.isInList(row);
    new Uint32Array(this.memory.buffer, this.offsetOf(place) + this.layout.length + 8, 1)[0] = NO_ROW;
    this.places[row] = 0;
    if (isInList) this.holes++;
    else this.free.push(place);
  }

  private isInList(row: number): boolean {
    const place = this.placeOf(row);
    return place !== undefined && place < this.listsEnd;
  }

  private addToSums(place: number, sign: 1 | -1): void {
    const { similarity, dimensions } = this.space;
    if (similarity !== 'cosine') return;
    const { bytes, scale } = this.recordAt(place);
    for (let number = 0; number < dimensions; number++)
      this.sums[number]! += sign * Math.round(bytes[number]! * scale * SUM_UNIT);
    this.mean = undefined;
  }

  private recordAt(place: number) {
    const at = this.offsetOf(place);
    const { buffer } = this.memory;
    const bytes = new Int8Array(buffer, at, this.space.dimensions);
    return { bytes, scale: new Float32Array(buffer, at + this.layout.length, 1)[0]! };
  }

  private placeOf(row: number): number | undefined {
    const place = this.places[row] ?? 0;
    return place === 0 ? undefined : place - 1;
  }

  private offsetOf(place: number): number {
    return this.layout.records + place * this.layout.recordBytes;
  }

  private take(): number | undefined {
    const free = this.free.pop();
    if (free !== undefined) return free;
    const missing = this.offsetOf(this.count + 1) - this.memory.buffer.byteLength;
    if (missing > 0 && !this.grow(missing)) return undefined;
    return this.count++;
  }

  private grow(bytes: number): boolean {
    const pages = this.memory.buffer.byteLength / PAGE_BYTES;
    const most = MEMORY_BYTES_MAX / PAGE_BYTES - pages;
    const least = Math.ceil(bytes / PAGE_BYTES);
    if (least > most) return false;
    const wanted = Math.min(most, Math.max(least, GROWTH_PAGES_MIN, Math.ceil(pages * GROWTH)));
    try {
      growMemory(this.memory, wanted);
    } catch {
      return false;
    }
    return true;
  }
}

/** The values in shared memory for at least `length`, twice as many as there were; who has the old array keeps what it shows. */
function grownShared(values: Uint32Array, length: number): Uint32Array<SharedArrayBuffer> {
  const copy = new Uint32Array(new SharedArrayBuffer(4 * Math.max(length, values.length * 2)));
  copy.set(values);
  return copy;
}
