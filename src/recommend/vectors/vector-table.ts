import type { VectorSpace } from '../../domain/vector-space.ts';
import { byteRecordBytes, paddedBytes } from '../../kernel/scratch-sizes.ts';
import { ARENA_START } from '../../memory/arena.ts';
import { grown } from '../../memory/growing-u32.ts';
import { createGrowingMemory, growMemory, MEMORY_BYTES_MAX, PAGE_BYTES } from '../../memory/shared-memory.ts';
import { packVector } from './packed-numbers.ts';

/** Records that are scanned at once: some tens of microseconds. */
export const BLOCK_RECORDS = 1024;
/** Scratch regions of a table, one for each thread that searches it at a time: the main thread's, and a worker's. */
const SCRATCHES = 2;
export const MAIN_SCRATCH = 0;
export const WORKER_SCRATCH = 1;
/** The memory grows by this share, and at least by so many pages. */
const GROWTH = 1 / 8;
const GROWTH_PAGES_MIN = 16;

/** The row of a record that is no item's. */
export const NO_ROW = 0xffff_ffff;

/** Where the vectors of a space are: plain data, for other threads. */
export interface TablePlace {
  readonly memory: WebAssembly.Memory;
  /** Numbers in a vector, without padding. */
  readonly dimensions: number;
  /** Records from the first to the last in use. */
  readonly count: number;
}

/** Offsets within a table's memory. */
export interface TableLayout {
  /** Numbers in a record, with padding. */
  readonly length: number;
  readonly recordBytes: number;
  readonly records: number;
}

export function layoutOf(dimensions: number): TableLayout {
  const length = paddedBytes(dimensions);
  const records = scratchAt(length, SCRATCHES).query;
  return { length, recordBytes: byteRecordBytes(length), records };
}

/** A thread's scratch: a query, and what a block has found. */
export function scratchAt(length: number, number: number) {
  const bytes = 2 * length + 8 * BLOCK_RECORDS;
  const query = ARENA_START + number * bytes;
  const outPlaces = query + 2 * length;
  return { query, outPlaces, outScores: outPlaces + 4 * BLOCK_RECORDS };
}

/**
 * The vectors of a space in shared memory, a byte a number: dimensions + 16 bytes a vector. Places of vectors that went
 * are given to those that come. At most 4 GiB; what has no room is told.
 */
export class VectorTable {
  readonly space: VectorSpace;
  private readonly layout: TableLayout;
  private readonly memory: WebAssembly.Memory;
  /** One more than the place of each row, 0 for none. */
  private places = new Uint32Array(64);
  private readonly free: number[] = [];
  private count = 0;

  constructor(space: VectorSpace) {
    this.space = space;
    this.layout = layoutOf(space.dimensions);
    this.memory = createGrowingMemory(this.layout.records);
  }

  /** Vectors in the table. */
  get size(): number {
    return this.count - this.free.length;
  }

  /** Bytes of all records. */
  get bytes(): number {
    return this.count * this.layout.recordBytes;
  }

  get place(): TablePlace {
    return { memory: this.memory, dimensions: this.space.dimensions, count: this.count };
  }

  /** @returns false where there is no room for one more */
  put(row: number, vector: Float32Array): boolean {
    const place = this.placeOf(row) ?? this.take();
    if (place === undefined) return false;
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
    if (row >= this.places.length) this.places = grown(this.places, row + 1);
    this.places[row] = place + 1;
    return true;
  }

  remove(row: number): void {
    const place = this.placeOf(row);
    if (place === undefined) return;
    new Uint32Array(this.memory.buffer, this.offsetOf(place) + this.layout.length + 8, 1)[0] = NO_ROW;
    this.places[row] = 0;
    this.free.push(place);
  }

  has(row: number): boolean {
    return this.placeOf(row) !== undefined;
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
