import { overloaded } from '../../domain/concurrency/overload.ts';
import { turns } from '../../domain/concurrency/turns.ts';

/** Requests that wait at most; more are refused. */
const WAITING_MAX = 10_000;

/**
 * Keeps requests back until the service has started, and then lets them in one a turn of the event loop, in the order in
 * which they came: all at once would keep out whoever comes then.
 */
export class StartGate {
  private readonly waitingMax: number;
  private readonly waiting = new Set<() => void>();
  private isOpen = false;

  constructor(started: Promise<void>, waitingMax = WAITING_MAX) {
    this.waitingMax = waitingMax;
    const open = () => {
      this.isOpen = true;
      for (const begin of this.waiting) begin();
      this.waiting.clear();
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
   * @throws FurzeError OVERLOADED when too many wait; the signal's reason once it is aborted
   */
  async pass(signal: AbortSignal): Promise<void> {
    if (this.waiting.size >= this.waitingMax) throw overloaded('start');
    await new Promise<void>((resolve, reject) => {
      const begin = () => resolve();
      this.waiting.add(begin);
      signal.addEventListener('abort', () => {
        this.waiting.delete(begin);
        reject(signal.reason);
      });
    });
    await turns.take();
    signal.throwIfAborted();
  }
}
