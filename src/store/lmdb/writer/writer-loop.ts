import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '../../../domain/furze-error.ts';
import type { ToWriter, Write } from '../tables/writer-messages.ts';
import { traceOf } from './check-writes.ts';
import { Durability, type FlushParts, NOT_DURABLE } from './durability.ts';
import { FullDisk } from './full-disk.ts';
import { bytesOf, type Group, takeGroup } from './group-commit.ts';

export type LoopMessage = Exclude<ToWriter, { kind: 'compact' } | { kind: 'followed' }>;

/** Parts that the loop drives. */
export interface LoopParts extends FlushParts {
  readonly write: (writes: readonly Write[]) => Group;
  /** True while `slice` has something to do. */
  readonly hasSlices: () => boolean;
  /** Does a part of what was acknowledged and takes many transactions. */
  readonly slice: () => Group;
  /** Throws while as much as this cannot be written. */
  readonly probe: (bytes: number) => void;
  readonly nextTransaction: () => number;
  readonly close: () => Promise<void>;
  readonly probeMs?: number;
}

/** Bytes of commands up to which a group that nobody waits behind is flushed at once. */
const LONE_BYTES_MAX = 16 * 1024;

const STOPPING = 'the service stops';

/**
 * The order of writing. All commands that wait are taken as a group into one transaction, and what comes while it is being
 * flushed is the next one, so a busy store waits for the disk once a group. A small group with nobody behind it is made sure
 * of without another thread, for the hand-over takes as long as the flush of a fast disk.
 *
 * A group that cannot be committed (a full disk) is undone and refused, and the store counts as not ready until as much
 * can be written again; see `FullDisk`. A flush that fails ends all writing until a restart; see `Durability`.
 */
export class WriterLoop {
  private readonly parts: LoopParts;
  private readonly durability: Durability;
  private readonly waiting: Write[] = [];
  private running = false;
  private closing = false;
  private isEnding = false;
  private readonly disk: FullDisk;
  private alone: (() => Promise<void>) | undefined;

  constructor(parts: LoopParts) {
    this.parts = parts;
    this.durability = new Durability(parts);
    const { probe, post, probeMs, nextTransaction } = parts;
    this.disk = new FullDisk({
      probe,
      post,
      probeMs,
      isOver: () => this.closing || this.durability.isBroken,
      onProbed: () =>
        this.durability.answer({ answers: [], changes: [], nextTransaction: nextTransaction() }),
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
   * @throws Error when the thread ends or the disk has failed; the action is not run then
   */
  exclusively(action: () => Promise<void>): Promise<void> {
    if (this.closing) return Promise.reject(new Error(STOPPING));
    return new Promise((resolve, reject) => {
      this.alone = async () => {
        this.alone = undefined;
        await this.durability.settled;
        if (this.closing || this.durability.isBroken)
          return reject(new Error(this.closing ? STOPPING : NOT_DURABLE));
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
   * Ends in order after a failure that nobody foresaw: a thread torn down in the middle of a flush would take the
   * process, and so the reads, with it.
   */
  async end(error: unknown): Promise<void> {
    if (this.isEnding) return;
    this.isEnding = true;
    // Nobody is alone any more: the thread would wait for it for ever.
    this.closing = true;
    await this.alone?.();
    await this.durability.settled;
    const ending = { reason: messageOf(error), trace: traceOf(error), isFinal: isFinal(error) };
    this.parts.post({ kind: 'failed', ...ending });
    await this.parts.close();
  }

  private async run(): Promise<void> {
    while (this.hasWork()) {
      if (this.alone !== undefined) await this.alone();
      if (this.hasSlices()) this.doSlice();
      const writes = takeGroup(this.waiting);
      if (this.durability.isBroken) this.durability.refuse(writes, this.parts.nextTransaction());
      else if (writes.length > 0) await this.carryOut(writes);
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
    return !this.closing && !this.durability.isBroken && !this.disk.isFull && this.parts.hasSlices();
  }

  /** One slice between two groups, told in the order of the commits. A crash loses nothing: it is done again. */
  private doSlice(): void {
    const group = this.parts.slice();
    this.noteFailure(group.failure, []);
    this.durability.answerInTurn(group);
  }

  private async carryOut(writes: readonly Write[]): Promise<void> {
    const group = this.parts.write(writes);
    this.noteFailure(group.failure, writes);
    const isLone = () => this.waiting.length === 0 && bytesOf(writes) <= LONE_BYTES_MAX;
    await this.durability.answerAsSet(group, isLone);
  }

  private noteFailure(failure: unknown, writes: readonly Write[]): void {
    if (failure === undefined || this.durability.isBroken) return;
    this.disk.noteFailure(failure, bytesOf(writes));
  }

  private async close(): Promise<void> {
    await this.durability.settled;
    this.parts.post({ kind: 'closed' });
    await this.parts.close();
  }
}

function isFinal(error: unknown): boolean {
  return (error as { isFinal?: boolean }).isFinal === true;
}
