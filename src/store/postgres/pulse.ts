import { sqlStateOf } from './database-away-error.ts';

/** Period of the look at who waits, milliseconds. */
export const LOOK_MS = 500;
/** Looks without any answer after which a database is silent: counted, so that a process that stands still itself sees one. */
export const SILENT_LOOKS = 8;

/** An answer that is waited for. */
interface Wait {
  looks: number;
  readonly cut: () => void;
}

/**
 * Tells a database that answers nothing at all from one that takes long: while somebody waits for an answer it is asked something
 * else, by another connection, that any server answers at once.
 */
export class Pulse {
  private readonly ask: () => Promise<unknown>;
  private readonly waiting = new Set<Wait>();
  private timer: NodeJS.Timeout | undefined;
  private isAsking = false;
  private unanswered = 0;

  /** @param ask asks what is answered at once */
  constructor(ask: () => Promise<unknown>) {
    this.ask = ask;
  }

  /** True from the moment on at which those who wait are cut off, until there is an answer. */
  get isSilent(): boolean {
    return this.unanswered >= SILENT_LOOKS;
  }

  /** Watches over an answer. @param cut makes it fail; called once the database is silent */
  async over<T>(answer: Promise<T>, cut: () => void): Promise<T> {
    const wait = { looks: 0, cut };
    this.waiting.add(wait);
    this.timer ??= setInterval(() => this.look(), LOOK_MS).unref();
    try {
      return await answer;
    } finally {
      this.waiting.delete(wait);
    }
  }

  private look(): void {
    let longest = 0;
    for (const wait of this.waiting) longest = Math.max(longest, ++wait.looks);
    if (longest < 2 && !this.isSilent) {
      this.unanswered = 0;
      if (longest > 0) return;
      clearInterval(this.timer);
      this.timer = undefined;
      return;
    }
    this.unanswered++;
    void this.listen();
    if (this.isSilent) for (const { cut } of this.waiting) cut();
  }

  private async listen(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    const isAnswered = await this.ask().then(
      () => true,
      // A refusal is an answer, too.
      ({ cause }) => sqlStateOf(cause) !== undefined,
    );
    this.isAsking = false;
    if (isAnswered) this.unanswered = 0;
  }
}
