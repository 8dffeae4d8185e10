import type { Catalogue } from './catalogue.ts';

/** A category whose members are fewer than this share of the catalogue is sorted by itself rather than found by a walk. */
const SORT_SHARE = 1 / 16;
/** Rows out of place from which on the order is made anew, behind the answers. */
const MOVED_MAX = 1024;
/** Rows put in order in one turn: a fraction of a millisecond. */
const TURN_ROWS = 16_384;

/**
 * Items by timestamp, newest first. The order is one sorted array of rows; what has changed since it was made stands
 * beside it, sorted by itself, and both are walked together. The order is made anew now and then, some rows a turn, so
 * neither a write nor a question ever waits for the whole catalogue.
 */
export class LatestIndex {
  private readonly catalogue: Catalogue;
  private order = new Uint32Array(0);
  /** Rows that are not where they stand in `order`, if anywhere. */
  private moved = new Set<number>();
  /** Those of them with a timestamp, newest first, but for `unsorted`. */
  private fresh: number[] = [];
  /** Rows that changed since `fresh` was sorted. */
  private readonly unsorted = new Set<number>();
  /** Rows that changed since the order that is being made was begun; undefined when none is. */
  private changed: Set<number> | undefined;

  constructor(catalogue: Catalogue) {
    this.catalogue = catalogue;
    catalogue.onChange((row) => {
      this.moved.add(row);
      this.unsorted.add(row);
      this.changed?.add(row);
      if (this.moved.size >= MOVED_MAX && this.changed === undefined) void this.arrange();
    });
  }

  /**
   * Visits rows newest first (hidden ones included) that are in all of `categories`, until `visit` returns false.
   * Items without a timestamp are not part of it.
   */
  walk(categories: readonly string[], visit: (row: number) => boolean): void {
    const { catalogue, order, moved } = this;
    const members = catalogue.narrowest(categories);
    const isIn = (row: number) => members === undefined || catalogue.isInAll(row, categories);
    if (members !== undefined && members.size < (order.length + moved.size) * SORT_SHARE) {
      for (const row of this.sort(this.timed(members))) if (isIn(row) && !visit(row)) return;
      return;
    }
    const fresh = this.freshRows();
    let next = 0;
    for (const row of order) {
      if (moved.has(row)) continue;
      for (; next < fresh.length && this.compare(fresh[next]!, row) < 0; next++)
        if (isIn(fresh[next]!) && !visit(fresh[next]!)) return;
      if (isIn(row) && !visit(row)) return;
    }
    for (; next < fresh.length; next++) if (isIn(fresh[next]!) && !visit(fresh[next]!)) return;
  }

  private freshRows(): readonly number[] {
    const { unsorted } = this;
    if (unsorted.size === 0) return this.fresh;
    const added = this.sort(this.timed(unsorted));
    const kept = this.fresh.filter((row) => !unsorted.has(row));
    unsorted.clear();
    this.fresh = this.merge(kept, added);
    return this.fresh;
  }

  private merge(some: readonly number[], others: readonly number[]): number[] {
    const merged: number[] = [];
    let next = 0;
    for (const row of some) {
      while (next < others.length && this.compare(others[next]!, row) < 0) merged.push(others[next++]!);
      merged.push(row);
    }
    while (next < others.length) merged.push(others[next++]!);
    return merged;
  }

  /** Makes the order anew, some rows a turn. Rows that change meanwhile are out of place in it, and known to be. */
  private async arrange(): Promise<void> {
    const changed = (this.changed = new Set<number>());
    // All rows of a batch change in one turn.
    await nextTurn();
    const { moved, order } = this;
    const settled = new Set(moved);
    const fresh = [...this.freshRows()];
    const merged = new Uint32Array(order.length + fresh.length);
    changed.clear();
    let length = 0;
    let next = 0;
    const take = (row: number) => {
      if (!changed.has(row)) merged[length++] = row;
    };
    for (let at = 0; at < order.length; at++) {
      if (at % TURN_ROWS === TURN_ROWS - 1) await nextTurn();
      const row = order[at]!;
      if (settled.has(row) || changed.has(row)) continue;
      while (next < fresh.length && (changed.has(fresh[next]!) || this.compare(fresh[next]!, row) < 0))
        take(fresh[next++]!);
      take(row);
    }
    while (next < fresh.length) take(fresh[next++]!);
    this.order = merged.subarray(0, length);
    this.moved = changed;
    this.changed = undefined;
    this.fresh = this.sort(this.timed(changed));
    this.unsorted.clear();
  }

  /** Those of the rows that have a timestamp. */
  private timed(rows: Iterable<number>): number[] {
    return [...rows].filter((row) => !Number.isNaN(this.catalogue.timestampMsAt(row)));
  }

  private sort(rows: number[]): number[] {
    return rows.sort((a, b) => this.compare(a, b));
  }

  private compare(a: number, b: number): number {
    return this.catalogue.timestampMsAt(b) - this.catalogue.timestampMsAt(a) || a - b;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
