import { performance } from 'node:perf_hooks';

/** Time after which others get a turn, milliseconds. */
const SLICE_MS = 1;

/**
 * Work that is done in its order, in slices of about a millisecond with turns of the event loop between them. What is
 * short and finds nothing before it is done at once.
 */
export class TimeSlicedQueue {
  private readonly work: Iterator<unknown>[] = [];
  private next: NodeJS.Immediate | undefined;
  private isAtWork = false;

  /** @param work each step of which is short */
  add(work: Iterable<unknown>): void {
    this.work.push(work[Symbol.iterator]());
    if (this.next === undefined && !this.isAtWork) this.slice();
  }

  /** Does at once what is left. */
  finish(): void {
    if (this.next !== undefined) clearImmediate(this.next);
    this.next = undefined;
    if (!this.isAtWork) while (this.step());
  }

  private slice(): void {
    this.next = undefined;
    const endMs = performance.now() + SLICE_MS;
    while (this.step()) {
      if (performance.now() < endMs) continue;
      if (this.work.length > 0) this.next = setImmediate(() => this.slice());
      return;
    }
  }

  /** @returns false when nothing is left */
  private step(): boolean {
    const first = this.work[0];
    if (first === undefined) return false;
    this.isAtWork = true;
    try {
      if (first.next().done === true) this.work.shift();
    } finally {
      this.isAtWork = false;
    }
    return this.work.length > 0;
  }
}
