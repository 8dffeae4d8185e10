import { grown } from '../../memory/growing-u32.ts';
import type { DataClock } from './data-clock.ts';

/** Counts move their zero point when a weight would exceed 2 to this power. */
const EXPONENT_MAX = 60;
/** A weight below 2 to this power is none: as good as forgotten. */
const EXPONENT_MIN = -100;

/** One number an item row, up to a factor that all share; a row past the end has none. */
export interface ScaledCounts {
  readonly values: Float32Array | Uint32Array;
  /** The sum of all values. */
  readonly total: number;
  /** Where it is another one, values are in other units; absent where they never are. */
  readonly zeroMs?: number;
}

/** The counts of `DecayedCounts`, to be saved. */
export interface SavedDecay {
  readonly values: Float32Array;
  readonly total: number;
  /** Milliseconds since the epoch, NaN while nothing was counted. */
  readonly zeroMs: number;
}

/**
 * Positive feedback by item, each record counting half after every half-life. Kept by forward decay (Cormode, Shkapenyuk,
 * Srivastava and Xu 2009): a record weighs 2^((its time - zero point) / half-life) once and for all, so that nothing has
 * to be done as time goes by, and counts compare with one another as they would at any later moment.
 */
export class DecayedCounts implements ScaledCounts {
  values: Float32Array = new Float32Array(1024);
  total = 0;
  private readonly halfLifeMs: number;
  zeroMs = Number.NaN;
  /** The time and the weight of the last record, 0 for none: many come of one time. */
  private lastTimeMs = Number.NaN;
  private lastWeight = 1;
  /** The counts of rows before each record that counts for a while; no records where none does. */
  private brief: { readonly total: number; readonly rows: number[]; readonly values: number[] } | undefined;

  /** @param halfLifeMs above 0 */
  constructor(halfLifeMs: number) {
    this.halfLifeMs = halfLifeMs;
  }

  /** Counts so many records of one time, or takes them back where `records` is below 0; never below 0, whatever rounding left. */
  add(row: number, timeMs: number, records: number): void {
    if (timeMs !== this.lastTimeMs) this.weigh(timeMs);
    const weight = this.lastWeight;
    if (weight === 0) return;
    if (row >= this.values.length) this.values = grown(this.values, row + 1);
    this.values[row] = Math.max(0, this.values[row]! + records * weight);
    this.total = Math.max(0, this.total + records * weight);
  }

  private weigh(timeMs: number): void {
    if (Number.isNaN(this.zeroMs)) this.zeroMs = timeMs;
    if ((timeMs - this.zeroMs) / this.halfLifeMs > EXPONENT_MAX) this.moveZero(timeMs);
    const exponent = (timeMs - this.zeroMs) / this.halfLifeMs;
    this.lastTimeMs = timeMs;
    // As it will be stored, so that taking it back leaves nothing where it was alone.
    this.lastWeight = exponent < EXPONENT_MIN ? 0 : Math.fround(2 ** exponent);
  }

  /** Counts records until `endBrief`, those of after `asOfMs` as if they were of then. */
  addBrief(records: DataClock, asOfMs: number): void {
    if ((asOfMs - this.zeroMs) / this.halfLifeMs > EXPONENT_MAX) this.moveZero(asOfMs);
    const { total } = this;
    const before = { total, rows: [] as number[], values: [] as number[] };
    records.forEach((row, timeMs) => {
      before.rows.push(row);
      before.values.push(this.values[row] ?? 0);
      this.add(row, Math.min(timeMs, asOfMs), 1);
    });
    this.brief = before;
  }

  /** Leaves everything, to the bit, as it was before `addBrief`; nothing was counted since. */
  endBrief(): void {
    const { brief } = this;
    if (brief === undefined) return;
    for (let at = brief.rows.length - 1; at >= 0; at--) this.values[brief.rows[at]!] = brief.values[at]!;
    this.total = brief.total;
    this.brief = undefined;
  }

  /** The sum over all feedback as of `timeMs`. */
  totalAt(timeMs: number): number {
    return this.total === 0 ? 0 : this.total * 2 ** ((this.zeroMs - timeMs) / this.halfLifeMs);
  }

  /** The same, with what `addBrief` of these would add. */
  totalWith(records: DataClock, asOfMs: number): number {
    let total = this.totalAt(asOfMs);
    records.forEach((_, timeMs) => {
      total += 2 ** Math.min(0, (timeMs - asOfMs) / this.halfLifeMs);
    });
    return total;
  }

  save(): SavedDecay {
    const { values, total, zeroMs } = this;
    return { values, total, zeroMs };
  }

  /** @param saved its values are kept and written to */
  restore({ values, total, zeroMs }: SavedDecay): void {
    this.values = values;
    this.total = total;
    this.zeroMs = zeroMs;
    this.lastTimeMs = Number.NaN;
    this.brief = undefined;
  }

  private moveZero(timeMs: number): void {
    const factor = 2 ** ((this.zeroMs - timeMs) / this.halfLifeMs);
    for (let row = 0; row < this.values.length; row++) this.values[row]! *= factor;
    this.total *= factor;
    this.zeroMs = timeMs;
    this.lastTimeMs = Number.NaN;
  }
}
