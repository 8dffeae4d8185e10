/** New items remembered. */
const ARRIVALS_MAX = 64;

/** The items that became listable lately: new ones, and those that are no longer hidden. */
export class NewItems {
  private readonly rows: number[] = [];
  private readonly timesMs: number[] = [];
  /** Time up to which what came is not all known. */
  private unknownUntilMs: number;
  /** Time when the last one came, milliseconds since the epoch, -Infinity for never. */
  lastMs = Number.NEGATIVE_INFINITY;

  /** @param sinceMs what came before is not known, milliseconds since the epoch */
  constructor(sinceMs: number) {
    this.unknownUntilMs = sinceMs;
  }

  add(row: number, nowMs: number): void {
    this.lastMs = nowMs;
    const known = this.rows.indexOf(row);
    if (known >= 0) {
      this.rows.splice(known, 1);
      this.timesMs.splice(known, 1);
    }
    this.rows.push(row);
    this.timesMs.push(nowMs);
    if (this.rows.length <= ARRIVALS_MAX) return;
    this.rows.shift();
    this.unknownUntilMs = this.timesMs.shift()!;
  }

  /** The items that came at `sinceMs` or later, undefined when they are more than are remembered. */
  since(sinceMs: number): readonly number[] | undefined {
    if (sinceMs <= this.unknownUntilMs) return undefined;
    return this.rows.filter((_, at) => this.timesMs[at]! >= sinceMs);
  }
}
