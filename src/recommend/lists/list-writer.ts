import type { CacheStore, UserList } from '../../store/cache-store.ts';
import { UserBits } from '../rows/user-bits.ts';

/** Changes are gathered for so long, milliseconds: a transaction takes longer than a list, and until then they are read from here. */
const GATHER_MS = 50;
/** Time between two attempts after one that failed, milliseconds. */
const RETRY_MS = 1000;
/** Of so many failures in a row one is reported. */
const TOLD_EVERY = 60;
/** Lists kept for a store that takes none: some megabytes. */
const UNSAVED_MAX = 8192;

/** A list to be stored, or one to be removed. */
type Change = UserList | 'removed';

/** Stores lists some time after answers have gone out, many in one transaction. The cache can be done without: a failure is reported and tried again. */
export class ListWriter {
  private readonly options: {
    readonly cache: Pick<CacheStore, 'putLists'>;
    readonly onTrouble: (error: unknown) => void;
    readonly onLost: (userRow: number) => void;
  };

  /** Changes not committed yet; short while the store answers. */
  private readonly unsaved = new Map<number, Change>();
  /** Users whose lists another thread makes and stores: what changes here is stored after that. */
  private readonly held = new UserBits();
  private saving: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private failures = 0;

  /** @param options.onLost told of each user whose list could not be kept */
  constructor(options: ListWriter['options']) {
    this.options = options;
  }

  /** What was put last and may not be seen in the store yet. */
  get(userRow: number): Change | undefined {
    return this.unsaved.get(userRow);
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

  /** The other thread is done. @param isSettled whether it has stored a list that a change of here must not write over */
  release(userRows: Uint32Array, isSettled: (userRow: number) => boolean): void {
    for (const userRow of userRows) {
      this.held.delete(userRow);
      if (this.unsaved.has(userRow) && isSettled(userRow)) this.unsaved.delete(userRow);
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
      if (this.failures++ % TOLD_EVERY === 0) this.options.onTrouble(error);
      return false;
    }
    this.failures = 0;
    for (const [userRow, change] of batch)
      if (this.unsaved.get(userRow) === change) this.unsaved.delete(userRow);
    return true;
  }
}
