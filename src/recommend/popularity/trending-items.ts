import { TopK } from '../../memory/top-k.ts';
import type { PopularityCounts } from './popularity-counts.ts';

/** Items that are kept of those wanted: some may not be shown, and others fall. */
const KEPT_FACTOR = 4;
/** So many times the items wanted are cut to `KEPT_FACTOR` times. */
const CUT_FACTOR = 8;

/** The items of a scale down to one of them. */
interface Kept {
  readonly rows: Set<number>;
  /** Value and row of the last of them: no other item stands before it. */
  readonly bar: { readonly value: number; readonly row: number };
  /** Values are in units of then. */
  readonly zeroMs: number | undefined;
}

/** Below all that counts. */
const NO_BAR: Kept['bar'] = { value: 0, row: -1 };

/**
 * The items with the most positive feedback on each popularity scale. What has not been liked since stays below what was above
 * it, since all counts fade alike: so only what was is looked at, and all items of a scale once in a while.
 */
export class TrendingItems {
  private readonly popularity: PopularityCounts;
  private readonly isListable: (itemRow: number) => boolean;
  private readonly scales: (Kept | undefined)[] = [];

  constructor(popularity: PopularityCounts, isListable: (itemRow: number) => boolean) {
    this.popularity = popularity;
    this.isListable = isListable;
  }

  /** The first `k` listable items of a scale as of now, most first; of equal ones the lower row. */
  first(scale: number, k: number): readonly number[] {
    this.popularity.drain();
    this.takeRisen();
    const { values, zeroMs } = this.popularity.scales[scale]!;
    let kept = this.scales[scale];
    for (let length = KEPT_FACTOR * k; ; length *= 2) {
      if (kept === undefined || kept.zeroMs !== zeroMs) kept = { ...firstOf(values, length), zeroMs };
      else if (kept.rows.size > CUT_FACTOR * k) kept = { ...firstOf(values, length, kept), zeroMs };
      this.scales[scale] = kept;
      const best = new TopK(k);
      for (const row of kept.rows) {
        const value = values[row] ?? 0;
        if (stands(row, value, kept.bar) && best.takes(row, value) && this.isListable(row))
          best.push(row, value);
      }
      const { rows } = best.sorted();
      if (rows.length === k || kept.bar === NO_BAR) return rows;
      kept = undefined;
    }
  }

  /** Items above a scale's bar by now are kept, too. */
  private takeRisen(): void {
    const risen = this.popularity.takeRisen();
    if (risen === undefined) this.scales.length = 0;
    const { scales } = this.popularity;
    for (const [scale, kept] of this.scales.entries())
      for (const row of kept === undefined ? [] : risen!)
        if (stands(row, scales[scale]!.values[row] ?? 0, kept!.bar)) kept!.rows.add(row);
  }
}

function stands(row: number, value: number, bar: Kept['bar']): boolean {
  return value > bar.value || (value === bar.value && row <= bar.row);
}

/** The first `length` of all items, or of those that are kept. */
function firstOf(values: ArrayLike<number>, length: number, kept?: Kept): Pick<Kept, 'rows' | 'bar'> {
  const { bar } = kept ?? { bar: NO_BAR };
  const rows = kept && [...kept.rows];
  const best = new TopK(length);
  const count = rows?.length ?? values.length;
  for (let at = 0; at < count; at++) {
    const row = rows === undefined ? at : rows[at]!;
    const value = values[row] ?? 0;
    if (stands(row, value, bar) && best.takes(row, value)) best.push(row, value);
  }
  const found = best.sorted();
  const last = found.rows.length - 1;
  const isCut = found.rows.length === length;
  return {
    rows: new Set(found.rows),
    bar: isCut ? { value: found.scores[last]!, row: found.rows[last]! } : bar,
  };
}
