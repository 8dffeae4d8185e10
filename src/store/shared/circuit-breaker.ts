import { setImmediate as endOfTurn } from 'node:timers/promises';
import { withinTime } from '../../platform/concurrency/unless-aborted.ts';
import type { UserList } from '../cache-store.ts';
import { packList, unpackList } from '../packed-list.ts';
import type { SharedLists, SharedStats } from './shared-lists.ts';

export interface BreakerOptions {
  readonly onTrouble?: (message: string, error: unknown) => void;
  /** Longest wait of an answer for a list, milliseconds. */
  readonly readMsMax?: number;
  /** Longest time to store lists, milliseconds. */
  readonly changeMsMax?: number;
  /** Pause between two looks whether a place that failed answers again, milliseconds. */
  readonly lookMs?: number;
}

const DEFAULTS = { onTrouble: () => {}, readMsMax: 50, changeMsMax: 2000, lookMs: 1000 };
/** So many failures in a row, and nobody waits for the place any more until it answers again. */
const FAILURES_MAX = 3;
/** Lists asked for at once. */
const BATCH_MAX = 128;
const TROUBLE = 'The shared cache does not answer; lists are made anew meanwhile';

type Found = UserList | undefined;

/** What is asked for in the same turn. */
interface Batch {
  readonly userRows: Set<number>;
  readonly found: Promise<ReadonlyMap<number, Found>>;
}

/**
 * Asks a place of shared lists so that nobody waits for it for long: what does not answer in time counts as absent, and
 * after a few failures nobody asks until it is back (a circuit breaker: Nygard 2007, "Release It!"). What is asked for in
 * the same turn is one question.
 */
export class CircuitBreaker {
  private readonly lists: SharedLists;
  private readonly options: Required<BreakerOptions>;
  /** The one that a further question joins. */
  private batch: Batch | undefined;
  /** Questions of answers are bounded more tightly than the work of passes, so each has a row of its own. */
  private readonly inRow = { answers: 0, passes: 0 };
  private counting: Promise<SharedStats> | undefined;
  private lookTimer: NodeJS.Timeout | undefined;
  private isClosed = false;
  /** Questions and changes that failed or took too long. */
  failures = 0;

  constructor(lists: SharedLists, options: BreakerOptions = {}) {
    this.lists = lists;
    this.options = { ...DEFAULTS, ...options };
  }

  /** False from some failures in a row until the place answers again. */
  get isAvailable(): boolean {
    return this.lookTimer === undefined;
  }

  /** The user's list; undefined when there is none, or it cannot be had in time. */
  async find(userRow: number): Promise<Found> {
    if (!this.isAvailable) return undefined;
    this.batch ??= this.newBatch();
    const { userRows, found } = this.batch;
    userRows.add(userRow);
    if (userRows.size === BATCH_MAX) this.batch = undefined;
    return (await found).get(userRow);
  }

  /** The lists of many users, in their order; none while the place does not answer. */
  async findAll(userRows: readonly number[]): Promise<readonly Found[]> {
    if (!this.isAvailable) return [];
    const found = await this.ask('passes', userRows);
    return userRows.map((userRow) => found.get(userRow));
  }

  /** @throws Error when the place takes nothing at the moment */
  async change(lists: readonly UserList[], removed: readonly number[]): Promise<void> {
    if (!this.isAvailable) throw new Error('the shared cache does not answer');
    const packed = lists.map((list) => [list.userRow, packList(list)] as const);
    await this.counted('passes', this.lists.change(packed, removed));
  }

  /** Shares the answer of a question that is under way. */
  getStats(): Promise<SharedStats> {
    if (!this.isAvailable) return Promise.resolve({ lists: 0, bytes: 0 });
    this.counting ??= this.within(this.options.changeMsMax, this.lists.getStats()).finally(() => {
      this.counting = undefined;
    });
    return this.counting;
  }

  /** @throws Error that says why the place cannot be used */
  async ping(): Promise<void> {
    await withinTime(this.lists.ping(), this.options.changeMsMax);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.lookTimer);
    await this.lists.close();
  }

  private newBatch(): Batch {
    const userRows = new Set<number>();
    const found = endOfTurn().then(() => {
      if (this.batch?.userRows === userRows) this.batch = undefined;
      return this.ask('answers', [...userRows]);
    });
    return { userRows, found };
  }

  private async ask(
    asker: keyof CircuitBreaker['inRow'],
    userRows: readonly number[],
  ): Promise<ReadonlyMap<number, Found>> {
    try {
      const found = await this.counted(asker, this.lists.get(userRows));
      return new Map(userRows.map((userRow, at) => [userRow, found[at] && unpackList(userRow, found[at])]));
    } catch {
      return NOTHING;
    }
  }

  private async within<T>(ms: number, work: Promise<T>): Promise<T> {
    try {
      return await withinTime(work, ms);
    } catch (error) {
      this.failures++;
      if (!this.isClosed) this.options.onTrouble(TROUBLE, error);
      throw error;
    }
  }

  /** Waits within the bound of what is asked, and after some failures in a row has nobody ask any more. */
  private async counted<T>(asker: keyof CircuitBreaker['inRow'], work: Promise<T>): Promise<T> {
    const { readMsMax, changeMsMax } = this.options;
    try {
      const done = await this.within(asker === 'answers' ? readMsMax : changeMsMax, work);
      this.inRow[asker] = 0;
      return done;
    } catch (error) {
      if (++this.inRow[asker] >= FAILURES_MAX && this.isAvailable && !this.isClosed) this.lookLater();
      throw error;
    }
  }

  /** Looks now and then whether the place answers as fast as it must. */
  private lookLater(): void {
    this.lookTimer = setTimeout(async () => {
      try {
        await withinTime(this.lists.ping(), this.options.readMsMax);
        Object.assign(this.inRow, { answers: 0, passes: 0 });
        this.lookTimer = undefined;
      } catch (error) {
        if (this.isClosed) return;
        this.options.onTrouble(TROUBLE, error);
        this.lists.reset();
        this.lookLater();
      }
    }, this.options.lookMs);
    this.lookTimer.unref();
  }
}

const NOTHING: ReadonlyMap<number, Found> = new Map();
