import { inTurns } from '../../platform/concurrency/event-loop-turns.ts';
import type { ShownCounts } from '../placements/shown-counts.ts';

/** Entries of an answer from which on its parts are made in turns of their own. */
const ENTRIES_A_TURN = 2000;

/** Rows taken between two pauses. */
const PAUSE_ROWS = 32;

/** Rows that wait for a place further down, at most. */
const WAITING_MAX = 256;

/** Rows chosen so far for one answer, and how many are wanted. */
export class AnswerBuilder {
  readonly rows: number[] = [];
  private readonly scores = new Map<number, number>();
  private readonly sources = new Map<number, string>();
  readonly wanted: number;
  /** Row of the item that the answer goes by; -1 for none. */
  seedRow = -1;
  private readonly caps: ShownCounts | undefined;
  /** Rows that the caps refuse for now, best first, and from which place on each may be asked again. */
  private readonly waiting = new Map<number, { score: number; source: string | undefined; from: number }>();
  private lowest = Number.POSITIVE_INFINITY;

  /** @param caps refuses what the answer has enough of, here or at all */
  constructor(wanted: number, caps?: ShownCounts) {
    this.caps = caps;
    this.wanted = wanted;
  }

  get missing(): number {
    return this.wanted - this.rows.length;
  }

  /** True where its parts are to be made in turns of their own. */
  get isLong(): boolean {
    return this.wanted > ENTRIES_A_TURN;
  }

  /** True where no cap refuses the row now. */
  hasRoomFor(row: number): boolean {
    return this.caps === undefined || this.caps.placeFor(row) === this.caps.nextPlace;
  }

  has(row: number): boolean {
    return this.scores.has(row);
  }

  /**
   * @param score its score where it comes from; those of different sources do not compare, so an entry takes at most
   *   that of the one above it, and that one's where it has none
   */
  take(row: number, score = Number.POSITIVE_INFINITY, source?: string): void {
    if (this.missing === 0 || this.scores.has(row)) return;
    if (!this.hasRoomFor(row)) this.wait(row, score, source);
    else {
      this.add(row, score, source);
      while (this.missing > 0 && this.addWaiting());
    }
  }

  private wait(row: number, score: number, source: string | undefined): void {
    const from = this.caps!.placeFor(row);
    if (from < Number.POSITIVE_INFINITY && this.waiting.size < WAITING_MAX && !this.waiting.has(row))
      this.waiting.set(row, { score, source, from });
  }

  /** Takes the first of those that wait and may stand at the next place. @returns false for none */
  private addWaiting(): boolean {
    for (const [row, each] of this.waiting) {
      if (each.from > this.caps!.nextPlace) continue;
      each.from = this.caps!.placeFor(row);
      if (each.from > this.caps!.nextPlace) continue;
      this.waiting.delete(row);
      this.add(row, each.score, each.source);
      return true;
    }
    return false;
  }

  private add(row: number, score: number, source: string | undefined): void {
    this.caps?.note(row);
    this.rows.push(row);
    if (source !== undefined) this.sources.set(row, source);
    this.lowest = Math.min(this.lowest, score);
    this.scores.set(row, this.lowest);
  }

  /**
   * Takes rows in turns, for caps look at all that wait with each.
   * @param source name of what they come from
   */
  takeAll(
    rows: readonly number[],
    scores?: ArrayLike<number>,
    source?: string | ((row: number) => string | undefined),
  ): Promise<void> {
    return inTurns(this.taking(rows, scores, source));
  }

  private *taking(
    ...[rows, scores, source]: Parameters<AnswerBuilder['takeAll']>
  ): Generator<undefined, void> {
    for (const [at, row] of rows.entries()) {
      if (this.missing === 0) return;
      if (at % PAUSE_ROWS === PAUSE_ROWS - 1) yield;
      this.take(row, scores?.[at], typeof source === 'function' ? source(row) : source);
    }
  }

  /**
   * Puts rows in this order in place of those chosen; one without a score takes that of the next one with one.
   * @param source name of what those come from that were not chosen
   */
  arrange(rows: readonly number[], source?: string): void {
    if (source !== undefined) for (const row of rows) if (!this.has(row)) this.sources.set(row, source);
    let score = rows.some((row) => this.scores.has(row)) ? this.lowest : 0;
    for (const row of rows.toReversed()) {
      score = this.scores.get(row) ?? score;
      this.scores.set(row, score);
    }
    this.rows.splice(0, this.rows.length, ...rows);
  }

  /** Name of what a row comes from; undefined where that was not told. */
  sourceOf(row: number): string | undefined {
    return this.sources.get(row);
  }

  /** Never rises along the answer; 0 where no source has given one. */
  scoreOf(row: number): number {
    const score = this.scores.get(row)!;
    return score === Number.POSITIVE_INFINITY ? 0 : score;
  }
}
