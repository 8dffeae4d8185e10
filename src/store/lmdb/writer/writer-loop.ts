import { FurzeError } from '../../../domain/errors.ts';
import type { FromWriter, SyncMode, ToWriter, Write, WriteAnswer } from '../messages.ts';
import { answerOf, traceOf } from './checked-writes.ts';

/** A group that is committed, with everything to be said about it. */
export interface Group extends Omit<Extract<FromWriter, { kind: 'committed' }>, 'kind'> {
  /** What the engine said when the group, or some of it, could not be committed. */
  readonly failure: unknown;
}

/** What the loop hears. */
export type LoopMessage = Exclude<ToWriter, { kind: 'compact' } | { kind: 'followed' }>;

/** What the loop drives. */
export interface LoopParts {
  readonly sync: SyncMode;
  /** Writes commands in one transaction. */
  readonly write: (writes: readonly Write[]) => Group;
  /** True while `slice` has something to do. */
  readonly hasSlices: () => boolean;
  /** Does a part of what was acknowledged and takes many transactions. */
  readonly slice: () => Group;
  /** Resolves when everything committed so far is on the disk. */
  readonly flush: () => Promise<void>;
  /** The same before it returns. */
  readonly flushNow: () => void;
  /** Throws while as much as this cannot be written. */
  readonly probe: (bytes: number) => void;
  /** Number of the next transaction that changes anything. */
  readonly nextTransaction: () => number;
  readonly post: (message: FromWriter) => void;
  readonly close: () => Promise<void>;
  /** Pause between two probes. */
  readonly probeMs?: number;
}

/**
 * Bytes of commands from which on no further one joins a transaction. It bounds how long the first waits for the last,
 * and how long the thread that serves is busy with what a commit changed: some ten thousand records at a time.
 */
const GROUP_BYTES_MAX = 1024 * 1024;
/** Bytes of commands up to which a group that nobody waits behind is flushed at once. */
const LONE_BYTES_MAX = 16 * 1024;
const PROBE_MS = 300;

/** After a failed flush the kernel may have dropped what it could not write and call the next flush a success. */
const NOT_DURABLE =
  'The disk of the data store failed to keep what was written to it. Nothing more is written until the service is restarted; check the disk first.';

const STOPPING = 'the service stops';

/**
 * The order of writing. All commands that wait are taken as a group into one transaction; while a group is being flushed
 * to the disk the next one is already written, so a busy store waits for the disk and not for itself. A small group with
 * nobody behind it is flushed without another thread, for the hand-over takes as long as the flush of a fast disk.
 *
 * A group that cannot be committed (a full disk) is undone and refused, and the store counts as not ready until as much
 * can be written again. A flush that fails ends all writing until a restart (Rebello et al., "Can Applications Recover
 * from fsync Failures?", 2020).
 */
export class WriterLoop {
  private readonly parts: LoopParts;
  private readonly waiting: Write[] = [];
  private running = false;
  private closing = false;
  private isBroken = false;
  private isFull = false;
  private flushing: Promise<void> = Promise.resolve();
  private flushScheduled = false;
  private alone: (() => Promise<void>) | undefined;

  constructor(parts: LoopParts) {
    this.parts = parts;
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
        await this.flushing;
        if (this.closing || this.isBroken) return reject(new Error(this.closing ? STOPPING : NOT_DURABLE));
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
    if (this.running) return;
    this.running = true;
    // Messages that came in the same turn are delivered before this runs, and make one group.
    setImmediate(() => this.run().catch((error) => this.fail(error)));
  }

  private async run(): Promise<void> {
    while (this.hasWork()) {
      if (this.alone !== undefined) await this.alone();
      if (this.hasSlices()) this.doSlice();
      const writes = takeGroup(this.waiting);
      if (this.isBroken) this.refuse(writes);
      else if (writes.length > 0) await this.carryOut(writes);
      // Whatever comes later starts the loop again.
      if (!this.hasWork()) break;
      // Lets the messages in that have come meanwhile.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.running = false;
    if (this.closing) await this.close();
  }

  private hasWork(): boolean {
    return this.waiting.length > 0 || this.hasSlices() || this.alone !== undefined;
  }

  private hasSlices(): boolean {
    return !this.closing && !this.isBroken && !this.isFull && this.parts.hasSlices();
  }

  /** One slice between two groups, told in the order of the commits. A crash loses nothing: it is done again. */
  private doSlice(): void {
    const group = this.parts.slice();
    if (group.failure !== undefined) this.noteFailure(group.failure, []);
    this.flushing = this.flushing.then(() => this.answer(group));
  }

  private async carryOut(writes: readonly Write[]): Promise<void> {
    const group = this.parts.write(writes);
    if (group.failure !== undefined) this.noteFailure(group.failure, writes);
    if (this.parts.sync === 'disk') {
      await this.flushing;
      const isLone = this.waiting.length === 0 && bytesOf(writes) <= LONE_BYTES_MAX;
      this.flushing = this.flushAndAnswer(group, isLone ? this.parts.flushNow : this.parts.flush);
    } else {
      this.answer(group);
      this.flushSoon();
    }
  }

  private async flushAndAnswer(group: Group, flush: () => Promise<void> | void): Promise<void> {
    if (!this.isBroken) {
      try {
        const flushed = flush();
        if (flushed !== undefined) await flushed;
      } catch (error) {
        this.breakOff(error);
      }
    }
    if (!this.isBroken) return this.answer(group);
    this.answer({ ...group, answers: group.answers.map(({ ticket }) => notDurable(ticket)) });
  }

  /** Flushes behind the answers, one flush at a time: it covers all that was committed before it began. */
  private flushSoon(): void {
    if (this.flushScheduled) return;
    this.flushScheduled = true;
    this.flushing = this.flushing.then(async () => {
      this.flushScheduled = false;
      try {
        if (!this.isBroken) await this.parts.flush();
      } catch (error) {
        this.breakOff(error);
      }
    });
  }

  private breakOff(error: unknown): void {
    this.isBroken = true;
    this.parts.post({ kind: 'problem', problem: NOT_DURABLE, trace: traceOf(error) });
  }

  /** Says that the store cannot write, and asks again and again until it can. */
  private noteFailure(failure: unknown, writes: readonly Write[]): void {
    if (this.isFull || this.isBroken) return;
    this.isFull = true;
    const problem = `The data store cannot write to its disk: ${messageOf(failure)}.`;
    this.parts.post({ kind: 'problem', problem, trace: traceOf(failure) });
    const bytes = bytesOf(writes);
    const timer = setInterval(() => {
      if (this.closing || this.isBroken) return clearInterval(timer);
      try {
        this.parts.probe(bytes);
      } catch {
        return;
      } finally {
        this.answer({ answers: [], changes: [], nextTransaction: this.parts.nextTransaction() });
      }
      clearInterval(timer);
      this.isFull = false;
      this.parts.post({ kind: 'problem', problem: undefined, trace: undefined });
      this.start();
    }, this.parts.probeMs ?? PROBE_MS);
    timer.unref();
  }

  private refuse(writes: readonly Write[]): void {
    const answers = writes.map(({ ticket }) => notDurable(ticket));
    this.answer({ answers, changes: [], nextTransaction: this.parts.nextTransaction() });
  }

  private answer({ answers, changes, nextTransaction }: Omit<Group, 'failure'>): void {
    this.parts.post({ kind: 'committed', answers, changes, nextTransaction });
  }

  /**
   * Ends in order after a failure that nobody foresaw: a thread torn down in the middle of a flush would take the
   * process, and so the reads, with it.
   */
  private async fail(error: unknown): Promise<void> {
    // Nobody is alone any more: the thread would wait for it for ever.
    this.closing = true;
    await this.alone?.();
    await this.flushing;
    const ending = { reason: messageOf(error), trace: traceOf(error), isFinal: isFinal(error) };
    this.parts.post({ kind: 'failed', ...ending });
    await this.parts.close();
  }

  private async close(): Promise<void> {
    await this.flushing;
    this.parts.post({ kind: 'closed' });
    await this.parts.close();
  }
}

function isFinal(error: unknown): boolean {
  return (error as { isFinal?: boolean }).isFinal === true;
}

/** The commands that go into the next transaction, taken from the head of those that wait. */
export function takeGroup(waiting: Write[]): Write[] {
  let bytes = 0;
  let count = 0;
  while (count < waiting.length && bytes < GROUP_BYTES_MAX) bytes += sizeOf(waiting[count++]!);
  return waiting.splice(0, count);
}

function bytesOf(writes: readonly Write[]): number {
  return writes.reduce((sum, write) => sum + sizeOf(write), 0);
}

function sizeOf({ command }: Write): number {
  return 'batch' in command && 'json' in command.batch ? command.batch.json.length : 0;
}

function notDurable(ticket: number): WriteAnswer {
  return answerOf(ticket, new FurzeError('STORE_UNAVAILABLE', NOT_DURABLE));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
