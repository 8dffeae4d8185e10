import type { UserList } from '../../store/cache-store.ts';

/** Lists that one job makes. */
const BATCH_USERS = 32;
/** Users that wait at most: a bound on memory. The others are noted when they are asked for again. */
const WAITING_MAX = 100_000;

/** What a worker made of the users that it was given. */
export interface Remade {
  readonly lists: readonly UserList[];
  /** Users without positive feedback for whom there is no list. */
  readonly forsaken: readonly number[];
}

/** Makes lists aside, in a worker. */
export type MakeInWorker = (userRows: readonly number[]) => Promise<Remade>;

/** The users whose lists a worker is to make again, each once. */
export class RemakeQueue {
  private readonly makeInWorker: MakeInWorker;
  private readonly onMade: (userRows: readonly number[], remade: Remade) => void;
  private readonly onTrouble: (error: unknown) => void;
  /** In the order in which they came, with who waits for the list. */
  private readonly waiting = new Map<number, (() => void)[]>();
  /** At work; true for those whose feedback has changed in the meantime. */
  private readonly underWay = new Map<number, boolean>();
  private running: Promise<void> | undefined;
  private closed = false;

  constructor(options: {
    readonly makeInWorker: MakeInWorker;
    /** Called with the users whose feedback did not change meanwhile, and what was made of all. */
    readonly onMade: (userRows: readonly number[], remade: Remade) => void;
    readonly onTrouble: (error: unknown) => void;
  }) {
    this.makeInWorker = options.makeInWorker;
    this.onMade = options.onMade;
    this.onTrouble = options.onTrouble;
  }

  /** Users that wait or are at work. */
  get length(): number {
    return this.waiting.size + this.underWay.size;
  }

  has(userRow: number): boolean {
    return this.waiting.has(userRow) || this.underWay.get(userRow) === false;
  }

  add(userRow: number): void {
    if (this.closed || this.has(userRow) || this.waiting.size >= WAITING_MAX) return;
    this.waiting.set(userRow, []);
    this.running ??= this.run();
  }

  /** Resolves once the user's list is made, or cannot be. */
  async wait(userRow: number): Promise<void> {
    if (this.closed) return;
    await new Promise<void>((resolve) => {
      const others = this.waiting.get(userRow);
      if (others !== undefined) others.push(resolve);
      else this.waiting.set(userRow, [resolve]);
      this.running ??= this.run();
    });
  }

  /** The user's feedback changed: what is being made may not know of it. */
  markChanged(userRow: number): void {
    if (this.underWay.has(userRow)) this.underWay.set(userRow, true);
  }

  /** Begins nothing more. Resolves when nothing is at work. */
  async close(): Promise<void> {
    this.closed = true;
    await this.running;
  }

  private async run(): Promise<void> {
    // One turn later, so that the requests of this turn share a job.
    await Promise.resolve();
    while (this.waiting.size > 0 && !this.closed) await this.makeNext();
    for (const [, waiters] of this.waiting) for (const resolve of waiters) resolve();
    this.waiting.clear();
    this.running = undefined;
  }

  private async makeNext(): Promise<void> {
    const resolved: (() => void)[] = [];
    for (const [userRow, waiters] of this.waiting) {
      if (this.underWay.size >= BATCH_USERS) break;
      this.waiting.delete(userRow);
      this.underWay.set(userRow, false);
      resolved.push(...waiters);
    }
    try {
      const userRows = [...this.underWay.keys()];
      const remade = await this.makeInWorker(userRows);
      this.onMade(
        userRows.filter((userRow) => this.underWay.get(userRow) === false),
        remade,
      );
    } catch (error) {
      if (!this.closed) this.onTrouble(error);
    } finally {
      this.underWay.clear();
      for (const resolve of resolved) resolve();
    }
  }
}
