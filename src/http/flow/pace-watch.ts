import { performance } from 'node:perf_hooks';

/** Bytes a second that a peer must move, on average over one timeout. */
export const BYTES_PER_SECOND_MIN = 16 * 1024;
/** Time between two looks at who is late, milliseconds. */
const LOOK_MS = 250;

/** One transfer that must go on: a body that arrives, an answer that is taken. */
export class Pace {
  private readonly watch: PaceWatch;
  private readonly onLate: () => void;
  private deadlineMs: number;
  private bytes = 0;

  constructor(watch: PaceWatch, onLate: () => void) {
    this.watch = watch;
    this.onLate = onLate;
    this.deadlineMs = performance.now() + watch.timeoutMs;
  }

  /** Counts bytes that were moved; enough of them grant another timeout. */
  moved(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes < (BYTES_PER_SECOND_MIN * this.watch.timeoutMs) / 1000) return;
    this.bytes = 0;
    this.deadlineMs = performance.now() + this.watch.timeoutMs;
  }

  /** There is nothing to be moved, for which nobody is late, until `begin`. */
  rest(): void {
    this.deadlineMs = Number.POSITIVE_INFINITY;
  }

  /** There is something to be moved from now on. */
  begin(): void {
    this.bytes = 0;
    this.deadlineMs = performance.now() + this.watch.timeoutMs;
  }

  /** Ends the watch over this transfer. */
  end(): void {
    this.watch.forget(this);
  }

  /** Ends the watch and tells when the time is over. */
  check(nowMs: number): void {
    if (nowMs < this.deadlineMs) return;
    this.end();
    this.onLate();
  }
}

/** Watches transfers with one timer for all of them, which ends once it finds none. */
export class PaceWatch {
  /** Time in which a transfer must move at least `BYTES_PER_SECOND_MIN` a second or end. */
  readonly timeoutMs: number;
  private readonly paces = new Set<Pace>();
  private timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs;
  }

  /** @param onLate called once, when the transfer is too slow */
  start(onLate: () => void): Pace {
    const pace = new Pace(this, onLate);
    this.paces.add(pace);
    this.timer ??= setInterval(() => this.look(), LOOK_MS).unref();
    return pace;
  }

  forget(pace: Pace): void {
    this.paces.delete(pace);
  }

  private look(): void {
    if (this.paces.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
      return;
    }
    const nowMs = performance.now();
    for (const pace of this.paces) pace.check(nowMs);
  }
}
