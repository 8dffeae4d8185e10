/** Doublings after which all counts are made smaller, so that none becomes infinite. */
const DOUBLINGS_MAX = 500;

/** Likes of each item, of which those a half-life ago count half: as of one moment up to a common factor. */
export class DecayedCounter {
  /** By item; minus infinity for one without likes. */
  readonly scores: Float64Array;
  private readonly halfLifeMs: number;
  private sinceMs = Number.NaN;

  /** @param halfLifeMs infinite where every like counts the same for ever */
  constructor(itemCount: number, halfLifeMs: number) {
    this.scores = new Float64Array(itemCount).fill(Number.NEGATIVE_INFINITY);
    this.halfLifeMs = halfLifeMs;
  }

  /** Counts a like; times never go back. */
  add(item: number, timeMs: number): void {
    if (Number.isNaN(this.sinceMs)) this.sinceMs = timeMs;
    let doublings = (timeMs - this.sinceMs) / this.halfLifeMs;
    if (doublings > DOUBLINGS_MAX) {
      for (let row = 0; row < this.scores.length; row++) this.scores[row]! *= 2 ** -doublings;
      this.sinceMs = timeMs;
      doublings = 0;
    }
    this.scores[item] = Math.max(0, this.scores[item]!) + 2 ** doublings;
  }

  /** The count of one like at that moment. */
  unitAt(timeMs: number): number {
    return 2 ** ((timeMs - this.sinceMs) / this.halfLifeMs);
  }
}
