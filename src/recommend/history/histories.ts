import type { LocalReads } from '../../store/data-store.ts';
import { History } from './history.ts';

/** Histories kept for the next requests. */
const KEPT_MAX = 64;

/** Gives each request a history of its own, which it gives back when it is answered. */
export class Histories {
  private readonly reads: LocalReads;
  private readonly positiveTtlMs: number;
  private readonly untilMs: () => number;
  private readonly kept: History[] = [];

  /**
   * @param positiveTtlMs positive feedback older than this no longer counts as such; Infinity for never
   * @param untilMs feedback up to then is in effect, milliseconds since the epoch
   */
  constructor(reads: LocalReads, positiveTtlMs: number, untilMs: () => number) {
    this.reads = reads;
    this.positiveTtlMs = positiveTtlMs;
    this.untilMs = untilMs;
  }

  /** The feedback of a user as of now; an unknown user (row -1) has none. */
  take(userRow: number): History {
    const history = this.kept.pop() ?? new History(this.reads, this.positiveTtlMs);
    history.load(userRow, this.untilMs());
    return history;
  }

  /** The history must not be used after this. */
  give(history: History): void {
    if (this.kept.length < KEPT_MAX) this.kept.push(history);
  }

  /** Does some work, at once, on a user's feedback as of now. */
  useNow<T>(userRow: number, work: (history: History) => T): T {
    const history = this.take(userRow);
    try {
      return work(history);
    } finally {
      this.give(history);
    }
  }

  /** Does some work on a user's feedback as of now. */
  async use<T>(userRow: number, work: (history: History) => Promise<T> | T): Promise<T> {
    const history = this.take(userRow);
    try {
      return await work(history);
    } finally {
      this.give(history);
    }
  }
}
