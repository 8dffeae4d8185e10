import { Worker } from 'node:worker_threads';
import { ownThread } from '../../../platform/program/thread-entry.ts';
import type { FromWriter, ToWriter, WriterOptions } from '../tables/writer-messages.ts';

export interface WriterEvents {
  receive(message: FromWriter): void;
  /** The writer is gone; what waited for it is lost. `reason` is one sentence for operators. */
  down(reason: string, trace: unknown): void;
  /** The writer is there again. */
  up(): void;
}

/** Pauses before a writer that has died is started again: this, then twice as long each time. */
const RESTART_MS = 500;
const RESTART_MS_MAX = 30_000;
/** The longest pause before one that could not start: what was short, as file handles, may be there again any time. */
const NO_START_MS_MAX = 1000;

/**
 * Keeps the writer thread alive: one that dies (no memory, no file handles, a fault of ours) is started again with
 * growing pauses, of a second at most where it cannot start, and the sentence that `down` is given says so. Not when another would do no better, and not when the
 * last one died between a commit and its word of it: then what is in memory no longer follows the store, and a restart
 * of the service is asked for.
 */
export class WriterSupervisor {
  readonly ended: Promise<void>;
  private readonly options: WriterOptions;
  private readonly events: WriterEvents;
  private readonly restartMs: number;
  private readonly entry: string;
  private worker: Worker | undefined;
  private timer: NodeJS.Timeout | undefined;
  private tries = 0;
  private pauseMs = 0;
  private isReady = false;
  private isDown = false;
  private isFinal = false;
  private closing = false;
  private nextTransaction = -1;
  private resolveEnded: () => void = () => {};

  /** @param entry path of the thread that writes, as `ownThread` takes it */
  constructor(
    options: WriterOptions,
    events: WriterEvents,
    restartMs = RESTART_MS,
    entry = 'store/lmdb/writer-thread',
  ) {
    this.entry = entry;
    this.options = options;
    this.events = events;
    this.restartMs = restartMs;
    this.ended = new Promise((resolve) => {
      this.resolveEnded = resolve;
    });
    this.start();
  }

  /** Hands a message over. A writer that is still starting finds it when it has; one that is down loses it. */
  post(message: ToWriter, transfer: ArrayBuffer[] = []): void {
    this.worker?.postMessage(message, transfer);
  }

  /** Lets the writer end in order; `ended` tells when it has. */
  close(): void {
    this.closing = true;
    clearTimeout(this.timer);
    if (this.worker === undefined) this.resolveEnded();
    else this.post({ kind: 'close' });
  }

  private start(): void {
    this.isReady = false;
    const { url, execArgv } = ownThread(this.entry);
    let worker: Worker;
    try {
      worker = new Worker(url, { workerData: this.options, execArgv, name: 'furze-writer' });
    } catch (error) {
      this.goDown(String(error), error, false);
      return;
    }
    this.worker = worker;
    let told = false;
    const down = (reason: string, trace: unknown, isFinal = false) => {
      if (told) return;
      told = true;
      this.goDown(reason, trace, isFinal);
    };
    worker.on('message', (message: FromWriter) => {
      if (message.kind === 'failed') down(message.reason, message.trace, message.isFinal);
      else this.receive(message, down);
    });
    worker.on('error', (error) => down(error.message, error));
    worker.once('exit', () => {
      if (!this.closing) down('it ended', undefined);
      this.worker = undefined;
      if (this.closing) this.resolveEnded();
      else this.startLater();
    });
  }

  private receive(
    message: FromWriter,
    down: (reason: string, trace: unknown, isFinal: boolean) => void,
  ): void {
    if (message.kind === 'replaced' || message.kind === 'loaded')
      this.nextTransaction = message.nextTransaction;
    if (message.kind === 'committed') {
      this.nextTransaction = message.nextTransaction;
      // A writer that has failed may have carried out some more since.
      if (!this.isDown) this.tries = 0;
    }
    if (message.kind === 'ready') {
      this.isReady = true;
      const isGap = this.nextTransaction >= 0 && message.nextTransaction !== this.nextTransaction;
      if (isGap) {
        down('the last one died in the middle of a write', undefined, true);
        this.post({ kind: 'close' });
        return;
      }
      this.nextTransaction = message.nextTransaction;
      if (this.isDown) this.events.up();
      this.isDown = false;
    }
    this.events.receive(message);
  }

  private goDown(reason: string, trace: unknown, isFinal: boolean): void {
    this.isDown = true;
    this.isFinal ||= isFinal;
    const longest = this.isReady ? RESTART_MS_MAX : NO_START_MS_MAX;
    this.pauseMs = Math.min(longest, this.restartMs * 2 ** this.tries++);
    const next = this.isFinal ? 'restart the service' : `it is started again in ${this.pauseMs} ms`;
    this.events.down(`The thread that writes the data store failed (${reason}); ${next}.`, trace);
    if (this.worker === undefined) this.startLater();
  }

  private startLater(): void {
    if (this.isFinal || this.closing) return;
    this.timer = setTimeout(() => this.start(), this.pauseMs);
    this.timer.unref();
  }
}
