import { placeOf } from '../../memory/binary-search.ts';

const NO_ROWS = new Uint32Array(0);
/** Changes from which on they are kept in parts. */
const WHOLE_MAX = 4096;
/** Number of parts, a power of two. */
const PARTS = 256;

/** A slice's counts by item row, ascending, as they are saved. */
export interface PackedSlice {
  readonly rows: Uint32Array;
  /** Above 0. */
  readonly counts: Uint32Array;
}

/**
 * Positive feedback by item in one stretch of time. What was read back stays in two arrays, and what comes after is kept
 * beside them, so that a start need not fill a map with everything there is.
 */
export class WindowSlice {
  private readonly packed: PackedSlice;
  /**
   * The changes since, by row; never below what is packed. Where that is much, in parts by the low bits of the
   * row: a `Map` takes tens of milliseconds to make room when it holds hundreds of thousands.
   */
  private since: readonly Map<number, number>[] = [new Map()];

  constructor(packed: PackedSlice = { rows: NO_ROWS, counts: NO_ROWS }) {
    this.packed = packed;
  }

  /** Counts a record (`sign` 1) or takes it back (-1); never below 0. */
  add(row: number, sign: 1 | -1): void {
    const part = this.partOf(row);
    const change = Math.max((part.get(row) ?? 0) + sign, -this.packedAt(row));
    if (change === 0) part.delete(row);
    else part.set(row, change);
    if (part.size > WHOLE_MAX && this.since.length === 1) this.divide(part);
  }

  /** Visits the rows with a count above 0, in no order. */
  forEach(visit: (row: number, count: number) => void): void {
    const { packed } = this;
    for (let at = 0; at < packed.rows.length; at++) {
      const row = packed.rows[at]!;
      const count = packed.counts[at]! + (this.partOf(row).get(row) ?? 0);
      if (count > 0) visit(row, count);
    }
    for (const part of this.since)
      for (const [row, count] of part) if (this.packedAt(row) === 0) visit(row, count);
  }

  pack(): PackedSlice {
    if (this.since.every(({ size }) => size === 0)) return this.packed;
    const entries: [number, number][] = [];
    this.forEach((row, count) => {
      entries.push([row, count]);
    });
    entries.sort(([a], [b]) => a - b);
    return {
      rows: Uint32Array.from(entries, ([row]) => row),
      counts: Uint32Array.from(entries, ([, count]) => count),
    };
  }

  private partOf(row: number): Map<number, number> {
    return this.since[row & (this.since.length - 1)]!;
  }

  private divide(whole: ReadonlyMap<number, number>): void {
    this.since = Array.from({ length: PARTS }, () => new Map<number, number>());
    for (const [row, change] of whole) this.partOf(row).set(row, change);
  }

  private packedAt(row: number): number {
    const place = placeOf(this.packed.rows, row);
    return place < 0 ? 0 : this.packed.counts[place]!;
  }
}
