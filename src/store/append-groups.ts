import { overloaded } from '../platform/concurrency/overload-error.ts';

/** Records that wait at most: some megabytes. */
const WAITING_MAX = 100_000;

interface Waiting<T> {
  readonly records: readonly T[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Writes records in groups: while one group is written, what comes meanwhile makes the next. */
export class AppendGroups<T> {
  private readonly write: (records: readonly T[]) => Promise<void>;
  private readonly waitingMax: number;
  private waiting: Waiting<T>[] = [];
  private waitingCount = 0;
  private running: Promise<void> | undefined;

  /** @param waitingMax records that may wait; more are refused */
  constructor(write: (records: readonly T[]) => Promise<void>, waitingMax = WAITING_MAX) {
    this.write = write;
    this.waitingMax = waitingMax;
  }

  /** Resolves once the records are written. @throws FurzeError OVERLOADED, or what the writing throws */
  add(records: readonly T[]): Promise<void> {
    if (this.waitingCount > 0 && this.waitingCount + records.length > this.waitingMax)
      return Promise.reject(overloaded('writes'));
    this.waitingCount += records.length;
    return new Promise((resolve, reject) => {
      this.waiting.push({ records, resolve, reject });
      this.running ??= this.run();
    });
  }

  /** Resolves once all that was added before is written or refused, whatever is added meanwhile. */
  settled(): Promise<void> {
    return this.add([]).catch(() => {});
  }

  private async run(): Promise<void> {
    // What comes in the same turn makes one group.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const group = this.waiting;
      this.waiting = [];
      this.waitingCount = 0;
      try {
        const records = group.flatMap((each) => each.records);
        if (records.length > 0) await this.write(records);
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.running = undefined;
  }
}
