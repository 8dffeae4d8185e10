import { placeOf } from '../../memory/binary-search.ts';

const NO_ROWS = new Uint32Array(0);

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
  /** What has come and gone since, by row; never below what is packed. */
  private readonly since = new Map<number, number>();

  constructor(packed: PackedSlice = { rows: NO_ROWS, counts: NO_ROWS }) {
    this.packed = packed;
  }

  /** Counts a record (`sign` 1) or takes it back (-1); never below 0. */
  add(row: number, sign: 1 | -1): void {
    const { since } = this;
    const change = Math.max((since.get(row) ?? 0) + sign, -this.packedAt(row));
    if (change === 0) since.delete(row);
    else since.set(row, change);
  }

  /** Visits the rows with a count above 0, in no order. */
  forEach(visit: (row: number, count: number) => void): void {
    const { packed, since } = this;
    for (let at = 0; at < packed.rows.length; at++) {
      const row = packed.rows[at]!;
      const count = packed.counts[at]! + (since.get(row) ?? 0);
      if (count > 0) visit(row, count);
    }
    for (const [row, count] of since) if (this.packedAt(row) === 0) visit(row, count);
  }

  pack(): PackedSlice {
    if (this.since.size === 0) return this.packed;
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

  private packedAt(row: number): number {
    const place = placeOf(this.packed.rows, row);
    return place < 0 ? 0 : this.packed.counts[place]!;
  }
}
