import type { Catalogue } from './catalogue.ts';

/** A category whose members are fewer than this share of the catalogue is sorted by itself rather than found by a walk. */
const SORT_SHARE = 1 / 16;

/**
 * Items by timestamp, newest first. The order is one sorted array of rows; changes wait in a set and are merged in
 * one pass at the next question, so a flood of writes costs nothing until somebody asks.
 */
export class LatestIndex {
  private readonly catalogue: Catalogue;
  private order = new Uint32Array(0);
  private readonly pending = new Set<number>();

  constructor(catalogue: Catalogue) {
    this.catalogue = catalogue;
    catalogue.onChange((row) => this.pending.add(row));
  }

  /**
   * Visits rows newest first (hidden ones included) that are in all of `categories`, until `visit` returns false.
   * Items without a timestamp are not part of it.
   */
  walk(categories: readonly string[], visit: (row: number) => boolean): void {
    this.merge();
    const { catalogue } = this;
    const members = catalogue.narrowest(categories);
    if (members !== undefined && members.size < this.order.length * SORT_SHARE) {
      const rows = [...members].filter((row) => !Number.isNaN(catalogue.timestampMsAt(row)));
      for (const row of this.sort(rows)) if (catalogue.isInAll(row, categories) && !visit(row)) return;
      return;
    }
    for (const row of this.order) if (catalogue.isInAll(row, categories) && !visit(row)) return;
  }

  private merge(): void {
    if (this.pending.size === 0) return;
    const { catalogue, order, pending } = this;
    const fresh = this.sort([...pending].filter((row) => !Number.isNaN(catalogue.timestampMsAt(row))));
    const merged = new Uint32Array(order.length + fresh.length);
    let length = 0;
    let next = 0;
    for (const row of order) {
      if (pending.has(row)) continue;
      while (next < fresh.length && this.compare(fresh[next]!, row) < 0) merged[length++] = fresh[next++]!;
      merged[length++] = row;
    }
    while (next < fresh.length) merged[length++] = fresh[next++]!;
    this.order = merged.slice(0, length);
    pending.clear();
  }

  private sort(rows: number[]): number[] {
    return rows.sort((a, b) => this.compare(a, b));
  }

  private compare(a: number, b: number): number {
    return this.catalogue.timestampMsAt(b) - this.catalogue.timestampMsAt(a) || a - b;
  }
}
