import { inTurns, turns } from '../../platform/concurrency/event-loop-turns.ts';
import type { LocalReads } from '../../store/data-store.ts';
import { History } from './history.ts';

/** Histories kept for the next requests, and records that such a one has room for at most. */
const [KEPT_MAX, KEPT_RECORDS_MAX] = [64, 8192];
/** Users with a longer history that are known for it. */
const LONG_MAX = 256;

/** Does in turns what goes before a read of a user's feedback that would take long; undefined where there is nothing. */
export function readAhead(
  reads: Pick<LocalReads, 'feedbackAhead'>,
  userRow: number,
): Promise<unknown> | undefined {
  const ahead = reads.feedbackAhead(userRow);
  return ahead && inTurns(ahead[Symbol.iterator]());
}

/** Gives each request a history of its own, which it gives back when it is answered. */
export class Histories {
  private readonly reads: LocalReads;
  private readonly positiveTtlMs: number;
  private readonly untilMs: () => number;
  private readonly kept: History[] = [];
  private readonly long = new Set<number>();

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

  /**
   * What is waited for before a history is taken, where to read it takes milliseconds, as that of a user that stands for all visitors;
   * undefined where it does not.
   */
  ready(userRow: number): Promise<void> | undefined {
    const ahead = readAhead(this.reads, userRow);
    if (ahead !== undefined) return ahead.then(() => turns.take());
    return this.long.has(userRow) ? turns.take() : undefined;
  }

  /** The history must not be used after this. */
  give(history: History): void {
    if (history.room > KEPT_RECORDS_MAX) {
      this.long.add(history.userRow);
      if (this.long.size > LONG_MAX) this.long.delete(this.long.values().next().value!);
    } else if (this.kept.length < KEPT_MAX) this.kept.push(history);
  }

  /** Does some work on a user's feedback as of now. */
  async use<T>(userRow: number, work: (history: History) => Promise<T> | T): Promise<T> {
    const wait = this.ready(userRow);
    if (wait !== undefined) await wait;
    const history = this.take(userRow);
    try {
      // To have read a long one was a part of its own.
      if (wait !== undefined) await turns.take();
      return await work(history);
    } finally {
      this.give(history);
    }
  }
}
