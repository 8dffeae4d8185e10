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

/** What has become of a user whose list is being made; `void` where nobody may see that list. */
type Course = 'unchanged' | 'changed' | 'void';

/** Makes lists aside, in a worker. */
export type MakeInWorker = (userRows: readonly number[]) => Promise<Remade>;

/** Told of what was made, of users whose feedback stayed as it was meanwhile and of those whose feedback changed. */
type OnMade = (remade: Remade, unchanged: readonly number[], changed: readonly number[]) => void;

/** The users whose lists a worker is to make again, each once. */
export class RemakeQueue {
  private readonly options: {
    readonly makeInWorker: MakeInWorker;
    /** True for a user whose list a pass makes at the moment, of the feedback as it is. */
    readonly isInPass: (userRow: number) => boolean;
    readonly onMade: OnMade;
    readonly onTrouble: (error: unknown) => void;
  };

  /** In the order in which they came, with who waits for the list. */
  private readonly waiting = new Map<number, (() => void)[]>();
  /** Asked for, though nobody waits: the older list is served. */
  private readonly asked = new Set<number>();
  private isLent = false;
  /** At work. */
  private readonly underWay = new Map<number, Course>();
  private running: Promise<void> | undefined;
  private closed = false;

  constructor(options: RemakeQueue['options']) {
    this.options = options;
  }

  /** Users whose lists are made before that of whoever waits from now on. */
  get ahead(): number {
    return this.waiting.size + this.underWay.size;
  }

  /** True for a user whose list is to be made, or is being made of the feedback as it is. */
  has(userRow: number): boolean {
    return (
      this.asked.has(userRow) ||
      this.waiting.has(userRow) ||
      this.underWay.get(userRow) === 'unchanged' ||
      this.options.isInPass(userRow)
    );
  }

  add(userRow: number): void {
    if (this.closed || this.has(userRow) || this.asked.size >= WAITING_MAX) return;
    this.asked.add(userRow);
    this.start();
  }

  /** From now on a pass takes the users for whom nobody waits, or does so no longer. */
  lend(isLent: boolean): void {
    this.isLent = isLent;
    this.start();
  }

  /** Takes users for whom nobody waits out of the queue, `limit` at most, while they are lent. */
  take(limit: number): number[] {
    const rows: number[] = [];
    if (!this.isLent) return rows;
    for (const row of this.asked) {
      if (rows.length >= limit) break;
      this.asked.delete(row);
      rows.push(row);
    }
    return rows;
  }

  /** Resolves once the user's list is made, or cannot be. */
  async wait(userRow: number): Promise<void> {
    if (this.closed) return;
    await new Promise<void>((resolve) => {
      const others = this.waiting.get(userRow);
      if (others !== undefined) others.push(resolve);
      else this.waiting.set(userRow, [resolve]);
      this.asked.delete(userRow);
      this.start();
    });
  }

  /** The user's feedback changed: what is being made may not know of it. */
  markChanged(userRow: number): void {
    if (this.underWay.get(userRow) === 'unchanged') this.underWay.set(userRow, 'changed');
  }

  /** There is no such user any more, or it took feedback back, by which what is being made may have been found. */
  markVoid(userRow: number): void {
    if (this.underWay.has(userRow)) this.underWay.set(userRow, 'void');
  }

  /** Begins nothing more. Resolves when nothing is at work. */
  async close(): Promise<void> {
    this.closed = true;
    await this.running;
  }

  private get hasWork(): boolean {
    return !this.closed && (this.waiting.size > 0 || (!this.isLent && this.asked.size > 0));
  }

  private start(): void {
    if (this.hasWork) this.running ??= this.run();
  }

  private async run(): Promise<void> {
    // One turn later, so that the requests of this turn share a job.
    await Promise.resolve();
    while (this.hasWork) await this.makeNext();
    for (const [, waiters] of this.waiting) for (const resolve of waiters) resolve();
    this.waiting.clear();
    this.running = undefined;
  }

  private async makeNext(): Promise<void> {
    const resolved: (() => void)[] = [];
    for (const [userRow, waiters] of this.waiting) {
      if (this.underWay.size >= BATCH_USERS) break;
      this.waiting.delete(userRow);
      this.underWay.set(userRow, 'unchanged');
      resolved.push(...waiters);
    }
    for (const userRow of this.isLent ? [] : this.asked) {
      if (this.underWay.size >= BATCH_USERS) break;
      this.asked.delete(userRow);
      this.underWay.set(userRow, 'unchanged');
    }
    try {
      const userRows = [...this.underWay.keys()];
      const remade = await this.options.makeInWorker(userRows);
      const those = (course: Course) => userRows.filter((userRow) => this.underWay.get(userRow) === course);
      this.options.onMade(remade, those('unchanged'), those('changed'));
    } catch (error) {
      if (!this.closed) this.options.onTrouble(error);
    } finally {
      this.underWay.clear();
      for (const resolve of resolved) resolve();
    }
  }
}
