import type { CacheStore, UserList } from '../../store/cache-store.ts';
import { UserBits } from '../rows/user-bits.ts';

/** Changes are gathered for so long, milliseconds: a transaction takes longer than a list, and until then they are read from here. */
const GATHER_MS = 50;
/** Time between two attempts after one that failed, milliseconds. */
const RETRY_MS = 1000;
/** Lists kept for a store that takes none: some megabytes. */
const UNSAVED_MAX = 8192;

/** A list to be stored, or one to be removed. */
type Change = UserList | 'removed';

/**
 * The place of users' lists: the cache, and before it what was made here and is not stored yet. Lists are stored some
 * time after answers have gone out, many in one transaction. The cache can be done without: a failure is reported and
 * tried again.
 */
export class ListPlace {
  private readonly options: {
    readonly cache: Pick<CacheStore, 'putLists' | 'getList' | 'local'>;
    /** True for a list that is made with the settings of today; others are as good as none. */
    readonly isOfToday: (list: UserList) => boolean;
    /** Told of each failure, however often they come. */
    readonly onTrouble: (error: unknown) => void;
    /** Told of each user whose list could not be kept. */
    readonly onLost: (userRow: number) => void;
  };

  /** Changes not committed yet; short while the store answers. */
  private readonly unsaved = new Map<number, Change>();
  /** Users whose lists another thread makes and stores: what changes here is stored after that. */
  private readonly held = new UserBits();
  /** The list that another is made after, where lists are not at hand. */
  private considered: UserList | undefined;
  private saving: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(options: ListPlace['options']) {
    this.options = options;
  }

  /** Asks for the user's list, to be given to `last`, where lists are not at hand; undefined where they are. */
  fetch(userRow: number): Promise<UserList | undefined> | undefined {
    const { cache } = this.options;
    if (userRow < 0 || cache.local !== undefined || this.unsaved.has(userRow)) return undefined;
    return cache.getList(userRow);
  }

  /**
   * The list made last with the settings of today, however old. It is the caller's own, whatever is read after.
   * @param fetched what `fetch` has found for the user
   */
  last(userRow: number, fetched?: UserList): UserList | undefined {
    const change = this.unsaved.get(userRow);
    if (change === 'removed') return undefined;
    const list = change ?? fetched ?? this.stored(userRow);
    // By the time that it was fetched, the user's name may be that of another row.
    return list?.userRow === userRow && this.options.isOfToday(list) ? list : undefined;
  }

  /** Does work that looks at this list as the user's last one. */
  considering<T>(list: UserList | undefined, work: () => T): T {
    this.considered = list;
    try {
      return work();
    } finally {
      this.considered = undefined;
    }
  }

  put(list: UserList): void {
    this.change(list.userRow, list);
  }

  remove(userRow: number): void {
    this.change(userRow, 'removed');
  }

  /** Another thread makes and stores the lists of these users from now on, until `release`. */
  hold(userRows: Uint32Array): void {
    for (const userRow of userRows) this.held.add(userRow);
  }

  isHeld(userRow: number): boolean {
    return this.held.has(userRow);
  }

  /**
   * The other thread is done.
   * @param madeMs of the lists that it has made
   * @param isSettled whether it has made the user's list of the feedback as it is: then a change of here is made of less
   */
  release(userRows: Uint32Array, madeMs: number, isSettled: (userRow: number) => boolean): void {
    const { local } = this.options.cache;
    local?.refresh();
    // Lists that are not at hand tell by their versions whether they are good.
    const isStored = (row: number) => local === undefined || local.readList(row)?.madeMs === madeMs;
    for (const userRow of userRows) {
      this.held.delete(userRow);
      if (this.unsaved.has(userRow) && isSettled(userRow) && isStored(userRow)) this.unsaved.delete(userRow);
    }
    if (this.unsaved.size > 0) this.saveLater(GATHER_MS);
  }

  /** Waits until everything is stored that is not held, or cannot be. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    while (this.saving !== undefined) await this.saving;
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.unsaved.size > 0) await this.attempt();
  }

  private stored(userRow: number): UserList | undefined {
    const { local } = this.options.cache;
    if (local !== undefined) return local.readList(userRow);
    return this.considered?.userRow === userRow ? this.considered : undefined;
  }

  private change(userRow: number, change: Change): void {
    this.unsaved.delete(userRow);
    this.unsaved.set(userRow, change);
    if (this.unsaved.size > UNSAVED_MAX) this.loseOldest();
    this.saveLater(GATHER_MS);
  }

  private saveLater(afterMs: number): void {
    if (this.timer !== undefined || this.saving !== undefined) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.saving = this.save();
    }, afterMs);
    this.timer.unref();
  }

  private loseOldest(): void {
    for (const userRow of this.unsaved.keys()) {
      this.unsaved.delete(userRow);
      this.options.onLost(userRow);
      return;
    }
  }

  private async save(): Promise<void> {
    const isSaved = await this.attempt();
    this.saving = undefined;
    if (this.unsaved.size > 0) this.saveLater(isSaved ? GATHER_MS : RETRY_MS);
  }

  private async attempt(): Promise<boolean> {
    const batch = [...this.unsaved].filter(([userRow]) => !this.held.has(userRow));
    if (batch.length === 0) return true;
    const lists: UserList[] = [];
    const removed: number[] = [];
    for (const [userRow, change] of batch) {
      if (change === 'removed') removed.push(userRow);
      else lists.push(change);
    }
    try {
      await this.options.cache.putLists(lists, removed);
    } catch (error) {
      this.options.onTrouble(error);
      return false;
    }
    for (const [userRow, change] of batch)
      if (this.unsaved.get(userRow) === change) this.unsaved.delete(userRow);
    return true;
  }
}
