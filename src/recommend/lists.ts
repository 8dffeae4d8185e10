import type { Clock } from '../domain/clock.ts';
import type { CacheStore, UserList } from '../store/cache-store.ts';
import type { History, TypeTest } from './history.ts';
import type { ModelSlot } from './serving-model.ts';

/** Rows of users whose list is behind their feedback: one bit a user. */
class DirtyUsers {
  private bits = new Uint32Array(1024);

  set(row: number, dirty: boolean): void {
    const word = row >>> 5;
    if (word >= this.bits.length) {
      if (!dirty) return;
      const grown = new Uint32Array(Math.max(word + 1, this.bits.length * 2));
      grown.set(this.bits);
      this.bits = grown;
    }
    const mask = 1 << (row & 31);
    this.bits[word] = dirty ? this.bits[word]! | mask : this.bits[word]! & ~mask;
  }

  has(row: number): boolean {
    return (((this.bits[row >>> 5] ?? 0) >>> (row & 31)) & 1) === 1;
  }

  /** Adds all rows of `other` and empties it. */
  absorb(other: DirtyUsers): void {
    other.bits.forEach((word, at) => {
      for (let rest = word; rest !== 0; rest &= rest - 1)
        this.set(at * 32 + 31 - Math.clz32(rest & -rest), true);
    });
    other.clear();
  }

  clear(): void {
    this.bits.fill(0);
  }
}

/**
 * The users' cached lists, kept in step with their feedback. New positive feedback marks a user; the next request
 * folds the user in against the current item factors and replaces the list (Hu, Koren, Volinsky 2008, section 4: a
 * user's vector follows from its feedback and the item factors alone). Whoever is not asked for costs one bit.
 */
export class UserLists {
  private readonly cache: CacheStore;
  private readonly models: ModelSlot;
  private readonly isPositive: TypeTest;
  private readonly clock: Clock;
  private readonly cacheSize: number;
  private readonly refreshMs: number;
  private readonly expireMs: number;
  private readonly isListable: (itemRow: number) => boolean;
  private readonly dirty = new DirtyUsers();
  /** Users whose feedback changed since the running fit began: the lists that it makes for them are behind. */
  private readonly changedInFit = new DirtyUsers();
  private fitting = false;
  /** Lists made but not yet committed; the writes are batched, so this is short. */
  private unsaved = new Map<number, UserList>();
  private saving: Promise<void> | undefined;
  private deleting: Promise<void> = Promise.resolve();

  constructor(options: {
    cache: CacheStore;
    models: ModelSlot;
    isPositive: TypeTest;
    clock: Clock;
    cacheSize: number;
    /** Age at which a list is made again without new feedback, milliseconds. */
    refreshMs: number;
    /** Age at which a list that cannot be made again is no longer served, milliseconds. */
    expireMs: number;
    isListable: (itemRow: number) => boolean;
  }) {
    this.cache = options.cache;
    this.models = options.models;
    this.isPositive = options.isPositive;
    this.clock = options.clock;
    this.cacheSize = options.cacheSize;
    this.refreshMs = Math.min(options.refreshMs, options.expireMs);
    this.expireMs = options.expireMs;
    this.isListable = options.isListable;
  }

  /** Notes that the user's positive feedback changed. */
  markDirty(userRow: number): void {
    this.dirty.set(userRow, true);
    if (this.fitting) this.changedInFit.set(userRow, true);
  }

  /** Lists were stored by other threads: looks at them from now on. */
  refresh(): void {
    this.cache.local?.refresh();
  }

  /** A fit that replaces all lists begins: it may not see feedback that comes from now on. */
  beginFit(): void {
    this.fitting = true;
  }

  /** @param replaced true when the fit made all lists anew: only what changed since it began is behind then */
  endFit(replaced: boolean): void {
    this.fitting = false;
    if (replaced) this.dirty.clear();
    this.dirty.absorb(this.changedInFit);
  }

  /** The user's list as of its last feedback; undefined when there is nothing to make one from. */
  of(history: History): UserList | undefined {
    const row = history.userRow;
    if (row < 0) return undefined;
    const list = this.unsaved.get(row) ?? this.cache.local?.readList(row);
    if (list === undefined) return this.remake(history);
    const ageMs = this.clock() - list.madeMs;
    const behind = ageMs > this.refreshMs || this.dirty.has(row) || this.changedInFit.has(row);
    if (!behind) return list;
    return this.remake(history) ?? (ageMs > this.expireMs ? undefined : list);
  }

  /** The user's vector against the current model, undefined without one. */
  vectorOf(history: History): Float32Array | undefined {
    const model = this.models.current;
    return model?.foldIn(history.positiveRows(this.isPositive));
  }

  /** Drops the lists of users that are gone. Rows are never used again, so a late write of one harms nobody. */
  delete(userRows: readonly number[]): void {
    if (userRows.length === 0) return;
    for (const row of userRows) this.unsaved.delete(row);
    this.deleting = this.deleting.then(() => this.cache.deleteLists(userRows));
  }

  /** Waits until every list made so far is stored. */
  async flush(): Promise<void> {
    while (this.saving !== undefined) await this.saving;
    await this.deleting;
  }

  private remake(history: History): UserList | undefined {
    const model = this.models.current;
    const vector = this.vectorOf(history);
    if (model === undefined || vector === undefined) return undefined;
    const accept = (row: number) => this.isListable(row) && !history.hasRead(row);
    const { rows, scores } = model.topItems(vector, this.cacheSize, accept);
    const list = {
      userRow: history.userRow,
      generation: model.generation,
      madeMs: this.clock(),
      itemRows: Uint32Array.from(rows),
      scores: Float32Array.from(scores),
    };
    this.dirty.set(history.userRow, false);
    this.unsaved.set(history.userRow, list);
    this.saving ??= this.save();
    return list;
  }

  private async save(): Promise<void> {
    // One turn later, so that the lists of all requests of this turn share a transaction.
    await Promise.resolve();
    try {
      while (this.unsaved.size > 0) {
        const batch = [...this.unsaved.values()];
        await this.cache.putLists(batch);
        for (const list of batch)
          if (this.unsaved.get(list.userRow) === list) this.unsaved.delete(list.userRow);
      }
    } finally {
      this.saving = undefined;
    }
  }
}
