import { FurzeError } from '../../../domain/furze-error.ts';
import type { FromWriter, SyncMode, Write, WriteAnswer } from '../tables/writer-messages.ts';
import { answerOf, traceOf } from './check-writes.ts';

/** Callbacks of a commit. */
export type Committed = Omit<Extract<FromWriter, { kind: 'committed' }>, 'kind'>;

export interface FlushParts {
  /** True to answer a commit once it is on the disk, false at once. */
  readonly sync: SyncMode;
  /** Resolves when everything committed so far is on the disk. */
  readonly flush: () => Promise<void>;
  /** The same before it returns. */
  readonly flushNow: () => void;
  readonly post: (message: FromWriter) => void;
}

/** After a failed flush the kernel may have dropped what it could not write and call the next flush a success. */
export const NOT_DURABLE =
  'The disk of the data store failed to keep what was written to it. Nothing more is written until the service is restarted; check the disk first.';

/**
 * Tracks whether commits are on the disk, and answers when they are not: flushes come one after the other, and one
 * that fails ends all writing until a restart (Rebello et al., "Can Applications Recover from fsync Failures?", 2020).
 */
export class Durability {
  private readonly parts: FlushParts;
  private last: Promise<void> = Promise.resolve();
  private isScheduled = false;
  private hasFailed = false;

  constructor(parts: FlushParts) {
    this.parts = parts;
  }

  /** True once a flush has failed. */
  get isBroken(): boolean {
    return this.hasFailed;
  }

  /** Resolves when the flush and the answers that were begun last are over; never rejects. */
  get settled(): Promise<void> {
    return this.last;
  }

  /** Tells of a commit that need not be on the disk, in its place behind what goes on. */
  answerInTurn(committed: Committed): void {
    this.last = this.last.then(() => this.answer(committed));
  }

  /**
   * Tells of a commit: once it is on the disk, or, where commits need not be, at once and flushes it soon.
   * @param isLone asked last: whether nobody waits behind it, so that it is flushed without another thread
   * @returns when the next group may be written
   */
  async answerAsSet(committed: Committed, isLone: () => boolean): Promise<void> {
    if (this.parts.sync === 'disk') {
      await this.last;
      this.last = this.flushAndAnswer(committed, isLone() ? this.parts.flushNow : this.parts.flush);
    } else {
      this.answer(committed);
      this.flushSoon();
    }
  }

  /** Flushes behind the answers, one flush at a time: it covers all that was committed before it began. */
  private flushSoon(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    this.last = this.last.then(async () => {
      this.isScheduled = false;
      try {
        if (!this.hasFailed) await this.parts.flush();
      } catch (error) {
        this.breakOff(error);
      }
    });
  }

  /** Refuses writes that came after a flush failed. */
  refuse(writes: readonly Write[], nextTransaction: number): void {
    this.answer({ answers: writes.map(({ ticket }) => notDurable(ticket)), changes: [], nextTransaction });
  }

  answer({ answers, changes, nextTransaction }: Committed): void {
    this.parts.post({ kind: 'committed', answers, changes, nextTransaction });
  }

  private async flushAndAnswer(committed: Committed, flush: () => Promise<void> | void): Promise<void> {
    if (!this.hasFailed) {
      try {
        const flushed = flush();
        if (flushed !== undefined) await flushed;
      } catch (error) {
        this.breakOff(error);
      }
    }
    if (!this.hasFailed) return this.answer(committed);
    this.answer({ ...committed, answers: committed.answers.map(({ ticket }) => notDurable(ticket)) });
  }

  private breakOff(error: unknown): void {
    this.hasFailed = true;
    this.parts.post({ kind: 'problem', problem: NOT_DURABLE, trace: traceOf(error) });
  }
}

function notDurable(ticket: number): WriteAnswer {
  return answerOf(ticket, new FurzeError('STORE_UNAVAILABLE', NOT_DURABLE));
}
