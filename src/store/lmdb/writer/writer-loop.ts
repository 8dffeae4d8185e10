import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '../../../domain/furze-error.ts';
import type { FromWriter, ToWriter, Write } from '../tables/writer-messages.ts';
import { traceOf } from './check-writes.ts';
import { FullDisk } from './full-disk.ts';
import { bytesOf, type Group, takeGroup } from './group-commit.ts';
import { isFinal } from './own-transactions.ts';

export type LoopMessage = Exclude<ToWriter, { kind: 'compact' } | { kind: 'followed' }>;

/** Parts that the loop drives. */
export interface LoopParts {
  /** Carries out a group; what it answers as done is on the disk. */
  readonly write: (writes: readonly Write[]) => Group;
  /** True while `slice` has something to do. */
  readonly hasSlices: () => boolean;
  /** Does a part of what was acknowledged and takes many transactions. */
  readonly slice: () => Group;
  /** Throws while as much as this cannot be written. */
  readonly probe: (bytes: number) => void;
  readonly nextTransaction: () => number;
  readonly post: (message: FromWriter) => void;
  readonly close: () => Promise<void>;
  readonly probeMs?: number;
}

const STOPPING = 'the service stops';

/**
 * The order of writing. All commands that wait are taken as a group into one transaction, which is flushed as it is committed,
 * and what comes meanwhile is the next one, so a busy store waits for the disk once a group.
 *
 * A group that cannot be committed (a full disk) is undone and refused, and the store counts as not ready until as much
 * can be written again; see `FullDisk`. A flush that fails ends the thread until a restart; see `UnflushedError`.
 */
export class WriterLoop {
  private readonly parts: LoopParts;
  private readonly waiting: Write[] = [];
  private running = false;
  private closing = false;
  private isEnding = false;
  private readonly disk: FullDisk;
  private alone: (() => Promise<void>) | undefined;

  constructor(parts: LoopParts) {
    this.parts = parts;
    const { probe, post, probeMs, nextTransaction } = parts;
    this.disk = new FullDisk({
      probe,
      post,
      probeMs,
      isOver: () => this.closing,
      onProbed: () =>
        post({ kind: 'committed', answers: [], changes: [], nextTransaction: nextTransaction() }),
      onRoom: () => this.start(),
    });
  }

  receive(message: LoopMessage): void {
    if (message.kind === 'close') this.closing = true;
    else if (message.kind === 'write') this.waiting.push(message);
    this.start();
  }

  /**
   * Runs an action between two groups: everything that was written is answered before it, and nothing is written while
   * it goes on. When it fails and says that it is final, the thread ends.
   * @throws Error when the thread ends; the action is not run then
   */
  exclusively(action: () => Promise<void>): Promise<void> {
    if (this.closing) return Promise.reject(new Error(STOPPING));
    return new Promise((resolve, reject) => {
      this.alone = async () => {
        this.alone = undefined;
        if (this.closing) return reject(new Error(STOPPING));
        try {
          await action();
          resolve();
        } catch (error) {
          reject(error);
          if (isFinal(error)) throw error;
        }
      };
      this.start();
    });
  }

  /** Goes to work when there is any; to be called once the thread listens. */
  start(): void {
    if (this.running || this.isEnding) return;
    this.running = true;
    // Messages that came in the same turn are delivered before this runs, and make one group.
    setImmediate(() => this.run().catch((error) => this.end(error)));
  }

  /**
   * Ends in order after a failure that nobody foresaw: a thread torn down in the middle of what it does would take the
   * process, and so the reads, with it.
   */
  async end(error: unknown): Promise<void> {
    if (this.isEnding) return;
    this.isEnding = true;
    // Nobody is alone any more: the thread would wait for it for ever.
    this.closing = true;
    await this.alone?.();
    const ending = { reason: messageOf(error), trace: traceOf(error), isFinal: isFinal(error) };
    this.parts.post({ kind: 'failed', ...ending });
    await this.parts.close();
  }

  private async run(): Promise<void> {
    while (this.hasWork()) {
      if (this.alone !== undefined) await this.alone();
      // A slice between two groups. A crash loses nothing: it is done again.
      if (this.hasSlices()) this.tell(this.parts.slice(), []);
      const writes = takeGroup(this.waiting);
      if (writes.length > 0) this.tell(this.parts.write(writes), writes);
      // Whatever comes later starts the loop again.
      if (!this.hasWork()) break;
      // Lets the messages in that have come meanwhile.
      await nextTurn();
    }
    this.running = false;
    if (this.closing && !this.isEnding) await this.close();
  }

  private hasWork(): boolean {
    return !this.isEnding && (this.waiting.length > 0 || this.hasSlices() || this.alone !== undefined);
  }

  private hasSlices(): boolean {
    return !this.closing && !this.disk.isFull && this.parts.hasSlices();
  }

  /** Tells of a commit, in the order of the commits. */
  private tell({ failure, ...committed }: Group, writes: readonly Write[]): void {
    if (failure !== undefined) this.disk.noteFailure(failure, bytesOf(writes));
    this.parts.post({ kind: 'committed', ...committed });
  }

  private async close(): Promise<void> {
    this.parts.post({ kind: 'closed' });
    await this.parts.close();
  }
}
