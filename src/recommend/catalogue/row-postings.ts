import { clearBit, hasBit, setBit } from '../../memory/bits.ts';

/** Rows that can be gone through and asked for. A `Set` of rows is one, too. */
export interface Rows extends Iterable<number> {
  readonly size: number;
  has(row: number): boolean;
}

/** Rows of a chunk: those that share all but their lowest 16 bits. */
const CHUNK_BITS = 16;
const LOW = 2 ** CHUNK_BITS - 1;
/** Words of a chunk's bitmap. */
const CHUNK_WORDS = 2 ** CHUNK_BITS / 32;
/** From so many rows on a chunk is a bitmap, which is smaller then. */
const BITMAP_FROM = 4096;

/** The rows of a chunk by their low bits: ascending, or as a bitmap of 65,536 bits. */
interface Chunk {
  count: number;
  rows: Uint16Array | undefined;
  bits: Uint32Array | undefined;
}

/**
 * A set of rows in typed arrays, ascending: 2 bytes a row where they are few, an eighth of a byte a row number where they
 * are many. These are the two kinds of container of Chambi, Lemire, Kaser and Godin 2016, "Better bitmap performance with
 * Roaring bitmaps".
 */
export class RowPostings implements Rows {
  size = 0;
  private readonly chunks: (Chunk | undefined)[] = [];

  has(row: number): boolean {
    const chunk = this.chunks[row >>> CHUNK_BITS];
    if (chunk === undefined) return false;
    const low = row & LOW;
    if (chunk.bits !== undefined) return hasBit(chunk.bits, low);
    const place = placeOf(chunk, low);
    return place < chunk.count && chunk.rows![place] === low;
  }

  add(row: number): void {
    const high = row >>> CHUNK_BITS;
    while (this.chunks.length <= high) this.chunks.push(undefined);
    const chunk = (this.chunks[high] ??= { count: 0, rows: new Uint16Array(4), bits: undefined });
    const low = row & LOW;
    if (chunk.bits === undefined && chunk.count === BITMAP_FROM) toBitmap(chunk);
    if (!(chunk.bits === undefined ? insert(chunk, low) : raise(chunk.bits, low))) return;
    chunk.count++;
    this.size++;
  }

  delete(row: number): void {
    const chunk = this.chunks[row >>> CHUNK_BITS];
    if (chunk === undefined || !this.has(row)) return;
    const low = row & LOW;
    if (chunk.bits !== undefined) clearBit(chunk.bits, low);
    else chunk.rows!.copyWithin(placeOf(chunk, low), placeOf(chunk, low) + 1, chunk.count);
    chunk.count--;
    this.size--;
    if (chunk.count === 0) this.chunks[row >>> CHUNK_BITS] = undefined;
    else if (chunk.bits !== undefined && chunk.count < BITMAP_FROM / 2) toRows(chunk);
  }

  /** Puts the bits of these rows in, but for rows beyond the words. Pauses after each chunk. */
  *addTo(words: Uint32Array): Generator<undefined, void> {
    for (const [high, chunk] of this.chunks.entries()) {
      if (chunk === undefined) continue;
      addChunk(words.subarray(high * CHUNK_WORDS, (high + 1) * CHUNK_WORDS), chunk);
      yield;
    }
  }

  /** Takes the bits of all other rows out. */
  keepIn(words: Uint32Array): void {
    this.combine(words, (bits, own) => bits & own);
  }

  /** Takes the bits of these rows out. */
  removeFrom(words: Uint32Array): void {
    this.combine(words, (bits, own) => bits & ~own);
  }

  private combine(words: Uint32Array, change: (bits: number, own: number) => number): void {
    const few = new Uint32Array(CHUNK_WORDS);
    for (let first = 0; first < words.length; first += CHUNK_WORDS) {
      const chunk = this.chunks[first / CHUNK_WORDS];
      if (chunk?.bits === undefined) {
        few.fill(0);
        for (let at = 0; at < (chunk?.count ?? 0); at++) setBit(few, chunk!.rows![at]!);
      }
      const own = chunk?.bits ?? few;
      const end = Math.min(CHUNK_WORDS, words.length - first);
      for (let at = 0; at < end; at++) words[first + at] = change(words[first + at]!, own[at]!);
    }
  }

  /** The lowest rows, at most `limit` of them, at once. */
  first(limit: number): number[] {
    const found: number[] = [];
    for (let high = 0; high < this.chunks.length && found.length < limit; high++) {
      const chunk = this.chunks[high];
      if (chunk !== undefined) takeRows(chunk, high * 2 ** CHUNK_BITS, limit, found);
    }
    return found;
  }

  *[Symbol.iterator](): Generator<number, void> {
    for (const [high, chunk] of this.chunks.entries()) {
      if (chunk === undefined) continue;
      for (const low of rowsOf(chunk)) yield high * 2 ** CHUNK_BITS + low;
    }
  }
}

/** Where a row stands in a chunk of rows, or would. */
function placeOf({ rows, count }: Chunk, low: number): number {
  let first = 0;
  let end = rows === undefined ? 0 : count;
  while (first < end) {
    const middle = (first + end) >>> 1;
    if (rows![middle]! < low) first = middle + 1;
    else end = middle;
  }
  return first;
}

/** @returns false for one that is there already */
function insert(chunk: Chunk, low: number): boolean {
  // Most rows come in ascending order.
  const isLast = chunk.count === 0 || chunk.rows![chunk.count - 1]! < low;
  const place = isLast ? chunk.count : placeOf(chunk, low);
  if (!isLast && chunk.rows![place] === low) return false;
  if (chunk.count === chunk.rows!.length) {
    const longer = new Uint16Array(Math.min(BITMAP_FROM, chunk.count * 2));
    longer.set(chunk.rows!);
    chunk.rows = longer;
  }
  if (!isLast) chunk.rows!.copyWithin(place + 1, place, chunk.count);
  chunk.rows![place] = low;
  return true;
}

/** @returns false for one that is set already */
function raise(bits: Uint32Array, low: number): boolean {
  if (hasBit(bits, low)) return false;
  setBit(bits, low);
  return true;
}

function toBitmap(chunk: Chunk): void {
  const bits = new Uint32Array(CHUNK_WORDS);
  for (const low of rowsOf(chunk)) setBit(bits, low);
  chunk.bits = bits;
  chunk.rows = undefined;
}

function addChunk(words: Uint32Array, { count, rows, bits }: Chunk): void {
  if (bits !== undefined) for (let at = 0; at < words.length; at++) words[at]! |= bits[at]!;
  else for (let at = 0; at < count && rows![at]! < words.length * 32; at++) setBit(words, rows![at]!);
}

function toRows(chunk: Chunk): void {
  chunk.rows = Uint16Array.from(rowsOf(chunk));
  chunk.bits = undefined;
}

function takeRows({ count, rows, bits }: Chunk, base: number, limit: number, found: number[]): void {
  for (let at = 0; rows !== undefined && at < count && found.length < limit; at++)
    found.push(base + rows[at]!);
  for (let at = 0; bits !== undefined && at < bits.length; at++) {
    for (let word = bits[at]!; word !== 0; word &= word - 1) {
      if (found.length === limit) return;
      found.push(base + at * 32 + (31 - Math.clz32(word & -word)));
    }
  }
}

/** Rows that are there throughout come once each, whatever comes and goes meanwhile. */
function* rowsOf(chunk: Chunk): Generator<number, void> {
  let next = 0;
  for (let at = 0; chunk.rows !== undefined && at < chunk.count; ) {
    const low = chunk.rows[at]!;
    yield low;
    next = low + 1;
    at = chunk.rows?.[at] === low ? at + 1 : placeOf(chunk, next);
  }
  const { bits } = chunk;
  if (bits === undefined) return;
  for (let at = next >>> 5, from = next & 31; at < bits.length; at++, from = 0) {
    for (let word = bits[at]! & (-1 << from); word !== 0; word &= word - 1)
      yield at * 32 + (31 - Math.clz32(word & -word));
  }
}
