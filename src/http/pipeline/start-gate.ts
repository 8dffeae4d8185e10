import { setTimeout as delay } from 'node:timers/promises';
import { FurzeError } from '../../domain/furze-error.ts';
import { turns } from '../../platform/concurrency/event-loop-turns.ts';
import { overloaded } from '../../platform/concurrency/overload-error.ts';

/** Requests that wait at most; more are refused. */
const WAITING_MAX = 10_000;

/** Pause between two looks whether the database answers, milliseconds. */
const LOOK_MS = 250;

const AWAY = 'The service is starting, and its database does not answer; try again later.';

/** The source that a start reads from, where it may be away. */
export interface StartSource {
  /** Tells that the source answers in time. */
  answers(): Promise<boolean>;
}

interface Waiter {
  begin(): void;
  refuse(error: FurzeError): void;
}

/**
 * Keeps requests back until the service has started, and then lets them in one a turn of the event loop, in the order in
 * which they came: all at once would keep out whoever comes then. While the source does not answer, nobody knows how long a
 * start will take: then requests are refused, so that they can be sent to another node.
 */
export class StartGate {
  private readonly waitingMax: number;
  private readonly source: StartSource | undefined;
  private readonly waiting = new Set<Waiter>();
  private isOpen = false;
  private isLooking = false;

  constructor(started: Promise<void>, source?: StartSource, waitingMax = WAITING_MAX) {
    this.waitingMax = waitingMax;
    this.source = source;
    const open = () => {
      this.isOpen = true;
      this.release((waiter) => waiter.begin());
    };
    // A start that fails ends the service; whoever waits need not hang on it.
    void started.then(open, open);
  }

  /** True while requests have to wait. */
  get isClosed(): boolean {
    return !this.isOpen;
  }

  /**
   * Resolves when it is the request's turn.
   * @param signal aborted when nobody waits for the answer any more: what the request holds is let go of at once
   * @throws FurzeError OVERLOADED when too many wait, STORE_UNAVAILABLE when the source does not answer; the signal's
   * reason once it is aborted
   */
  async pass(signal: AbortSignal): Promise<void> {
    if (this.waiting.size >= this.waitingMax) throw overloaded('start');
    await new Promise<void>((resolve, reject) => {
      const waiter = { begin: resolve, refuse: reject };
      this.waiting.add(waiter);
      signal.addEventListener('abort', () => {
        this.waiting.delete(waiter);
        reject(signal.reason);
      });
      void this.look();
    });
    await turns.take();
    signal.throwIfAborted();
  }

  /** As long as anybody waits. */
  private async look(): Promise<void> {
    if (this.source === undefined || this.isLooking) return;
    this.isLooking = true;
    while (this.isClosed && this.waiting.size > 0) {
      if (!(await this.source.answers()) && this.isClosed)
        this.release((waiter) => waiter.refuse(new FurzeError('STORE_UNAVAILABLE', AWAY)));
      await delay(LOOK_MS, undefined, { ref: false });
    }
    this.isLooking = false;
  }

  private release(each: (waiter: Waiter) => void): void {
    for (const waiter of this.waiting) each(waiter);
    this.waiting.clear();
  }
}
