import { firstAbove } from '../../memory/binary-search.ts';

/** Records kept at most. */
const NEWEST_MAX = 20;
/** Of all records this share may be newer than the moment as of which is counted. */
const NEWER_SHARE = 0.01;

/** A record of positive feedback. */
export interface TimedRow {
  readonly row: number;
  /** Milliseconds since the epoch. */
  readonly timeMs: number;
}

/**
 * The time by the data: the newest records of all, which say as of when "lately" is. The decaying counts and the age
 * of items in the ranking go by it, so that data that ends years ago ranks as it did then; the list `popular` goes by the
 * clock. A few records of another time, such as the first clicks on a set that was imported from years ago, or of a wrong
 * clock, do not move it.
 */
export class DataClock {
  /** Ascending. */
  private timesMs: number[] = [];
  private rows: number[] = [];
  /** No record of before this time is taken in: others of that time have left. */
  private leftMs = Number.NEGATIVE_INFINITY;

  /** Takes a record in. @returns the one that leaves for it, which may be itself; undefined while there is room */
  add(row: number, timeMs: number): TimedRow | undefined {
    if (timeMs < this.leftMs) return { row, timeMs };
    const { timesMs, rows } = this;
    const isFull = rows.length === NEWEST_MAX;
    if (isFull && timeMs < timesMs[0]!) return this.leave({ row, timeMs });
    const left = isFull ? this.leave({ row: rows[0]!, timeMs: timesMs[0]! }) : undefined;
    const place = firstAbove(timesMs, timeMs) - Number(isFull);
    // Moved one by one: splicing makes an array for each like.
    const [from, step] = isFull ? [0, 1] : [rows.length, -1];
    for (let at = from; at !== place; at += step) {
      timesMs[at] = timesMs[at + step]!;
      rows[at] = rows[at + step]!;
    }
    timesMs[place] = timeMs;
    rows[place] = row;
    return left;
  }

  /** Takes a record out. @returns false when it is not among them */
  remove(row: number, timeMs: number): boolean {
    for (let at = firstAbove(this.timesMs, timeMs) - 1; at >= 0 && this.timesMs[at] === timeMs; at--) {
      if (this.rows[at] !== row) continue;
      this.timesMs.splice(at, 1);
      this.rows.splice(at, 1);
      return true;
    }
    return false;
  }

  /** Takes out the oldest, if it is not later than that. */
  shiftUntil(timeMs: number): TimedRow | undefined {
    return this.timesMs[0]! <= timeMs ? this.shift() : undefined;
  }

  /**
   * The time that all but the newest hundredth of `total` records lie before or at, milliseconds since the epoch;
   * -Infinity without any record.
   */
  asOfMs(total: number): number {
    const newer = Math.min(NEWEST_MAX, Math.max(1, Math.ceil(total * NEWER_SHARE)));
    return this.timesMs[Math.max(0, this.timesMs.length - newer)] ?? this.leftMs;
  }

  forEach(visit: (row: number, timeMs: number) => void): void {
    for (let at = 0; at < this.rows.length; at++) visit(this.rows[at]!, this.timesMs[at]!);
  }

  save(): SavedDataClock {
    return { rows: [...this.rows], timesMs: [...this.timesMs], leftMs: this.leftMs };
  }

  restore({ rows, timesMs, leftMs }: SavedDataClock): void {
    this.rows = [...rows];
    this.timesMs = [...timesMs];
    this.leftMs = leftMs;
  }

  private shift(): TimedRow {
    return this.leave({ row: this.rows.shift()!, timeMs: this.timesMs.shift()! });
  }

  private leave(record: TimedRow): TimedRow {
    this.leftMs = Math.max(this.leftMs, record.timeMs);
    return record;
  }
}

/** The state of `DataClock`, to be saved. */
export interface SavedDataClock {
  readonly rows: readonly number[];
  readonly timesMs: readonly number[];
  /** -Infinity for none. */
  readonly leftMs: number;
}
