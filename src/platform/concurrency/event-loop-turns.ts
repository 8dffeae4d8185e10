import { performance } from 'node:perf_hooks';

/** Time after which others get a turn, milliseconds. */
const TURN_MS = 1;

/**
 * Turns on the main thread for work that many requests do in parts: one part a round of the event loop, first come,
 * first served, so that whatever else is ready goes between any two of them.
 */
class Turns {
  private readonly waiting: (() => void)[] = [];
  private next = 0;

  /** Resolves when it is the caller's turn; what it then does before it waits again is one part. */
  take(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      if (this.waiting.length - this.next === 1) setImmediate(() => this.call());
    });
  }

  private call(): void {
    this.waiting[this.next++]!();
    if (this.next === this.waiting.length) {
      this.waiting.length = 0;
      this.next = 0;
      return;
    }
    if (this.next > 1024) {
      this.waiting.splice(0, this.next);
      this.next = 0;
    }
    // The part runs before the next round: its promise is resolved, and microtasks go first.
    setImmediate(() => this.call());
  }
}

/** The one event loop that there is. */
export const turns = new Turns();

/**
 * Does work that pauses now and then, about a millisecond a turn of the event loop; what is short is done at once. Work that
 * is given up is told so by its `return`, so that a generator gives back what it holds.
 * @throws the signal's reason once it is aborted
 */
export async function inTurns<T>(work: Iterator<unknown, T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    const endMs = performance.now() + TURN_MS;
    do {
      const step = work.next();
      if (step.done === true) return step.value;
    } while (performance.now() < endMs);
    await turns.take();
    if (signal?.aborted !== true) continue;
    work.return?.();
    throw signal.reason;
  }
}

/**
 * Lets others go between the parts of work that waits for other things, too, each of which may be short: once about a millisecond has
 * gone by since the last time.
 * @returns what is waited for before each part
 */
export function pausing(): () => Promise<void> | undefined {
  let endMs = performance.now() + TURN_MS;
  return () => {
    if (performance.now() < endMs) return undefined;
    return turns.take().then(() => {
      endMs = performance.now() + TURN_MS;
    });
  };
}

/** Makes results of values, in turns; a value without one is left out. @param values which may be read as they are asked for */
export function mapInTurns<V, R>(
  values: Iterable<V>,
  toResult: (value: V, index: number) => R | undefined,
): Promise<R[]> {
  const work = function* (): Generator<undefined, R[]> {
    const results: R[] = [];
    let index = 0;
    for (const value of values) {
      const result = toResult(value, index++);
      if (result !== undefined) results.push(result);
      yield;
    }
    return results;
  };
  return inTurns(work());
}

/** Does the work without a pause, for a thread that nobody waits for, or where it is known to be short. */
export function atOnce<T>(work: Iterator<unknown, T>, onPause: () => void = () => {}): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    onPause();
  }
}
