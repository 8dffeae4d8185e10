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
