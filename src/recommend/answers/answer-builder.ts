/** Entries of an answer from which on its parts are made in turns of their own. */
const ENTRIES_A_TURN = 2000;

/** Rows chosen so far for one answer, and how many are wanted. */
export class AnswerBuilder {
  readonly rows: number[] = [];
  private readonly scores = new Map<number, number>();
  readonly wanted: number;
  private lowest = Number.POSITIVE_INFINITY;

  constructor(wanted: number) {
    this.wanted = wanted;
  }

  get missing(): number {
    return this.wanted - this.rows.length;
  }

  /** True where its parts are to be made in turns of their own. */
  get isLong(): boolean {
    return this.wanted > ENTRIES_A_TURN;
  }

  has(row: number): boolean {
    return this.scores.has(row);
  }

  /**
   * @param score its score where it comes from; those of different sources do not compare, so an entry takes at most
   *   that of the one above it, and that one's where it has none
   */
  take(row: number, score = Number.POSITIVE_INFINITY): void {
    if (this.missing === 0 || this.scores.has(row)) return;
    this.rows.push(row);
    this.lowest = Math.min(this.lowest, score);
    this.scores.set(row, this.lowest);
  }

  takeAll(rows: readonly number[], scores?: ArrayLike<number>): void {
    for (const [at, row] of rows.entries()) this.take(row, scores?.[at]);
  }

  /** Never rises along the answer; 0 where no source has given one. */
  scoreOf(row: number): number {
    const score = this.scores.get(row)!;
    return score === Number.POSITIVE_INFINITY ? 0 : score;
  }
}
