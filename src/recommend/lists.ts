import type { Clock } from '../domain/clock.ts';
import type { CacheStore, UserList } from '../store/cache-store.ts';
import { DirtyUsers } from './dirty-users.ts';
import type { History } from './history.ts';
import type { ListMaker } from './list-maker.ts';
import type { GenerationSlot } from './serving-model.ts';

/** Name of the mark that tells which lists were behind when the service stopped. */
const BEHIND_MARK = 'lists-behind';

/** What of the lists is in memory alone. */
interface BehindMark {
  readonly dirty: Uint8Array;
  readonly arrivedMs: number;
  readonly unknownUntilMs: number;
}

/** Ages of a list, milliseconds. */
export interface ListAges {
  /** A list is made again without new feedback. */
  readonly refreshMs: number;
  /** A list that cannot be made again is no longer served. */
  readonly expireMs: number;
  /** A list that knows nothing of the newest items is made again. */
  readonly arrivalMs: number;
}

/**
 * The users' cached lists, kept in step with their feedback. New feedback marks a user; the next request folds the user
 * in against the current item factors and replaces the list (Hu, Koren, Volinsky 2008, section 4: a user's vector
 * follows from its feedback and the item factors alone). Whoever is not asked for costs one bit, so a flood of feedback
 * makes nobody wait.
 */
export class UserLists {
  private readonly cache: CacheStore;
  private readonly generations: GenerationSlot;
  private readonly clock: Clock;
  private readonly ages: ListAges;
  private readonly validSinceMs: number;
  private readonly arrivedMs: () => number;
  private readonly onReplaced: (userRow?: number) => void;
  private readonly dirty = new DirtyUsers();
  /** Users whose feedback changed since the running pass began: the lists that it makes for them may be behind. */
  private readonly changedInPass = new DirtyUsers();
  private passing = false;
  /** Lists made before are behind: what changed since is not known. */
  private unknownUntilMs = Number.NEGATIVE_INFINITY;
  /** When an item last became listable before the service was started. */
  private arrivedBeforeMs = Number.NEGATIVE_INFINITY;
  /** Lists made but not yet committed; the writes are batched, so this is short. */
  private readonly unsaved = new Map<number, UserList>();
  private saving: Promise<void> | undefined;
  private deleting: Promise<void> = Promise.resolve();
  private readonly maker: ListMaker;

  constructor(options: {
    cache: CacheStore;
    generations: GenerationSlot;
    maker: ListMaker;
    clock: Clock;
    ages: ListAges;
    /** Lists made before are of another configuration and not served, milliseconds since the epoch. */
    validSinceMs: number;
    /** When an item last became listable, milliseconds since the epoch. */
    arrivedMs: () => number;
    /** Called when the user's list was made anew, or, without a row, when any may have been. */
    onReplaced: (userRow?: number) => void;
  }) {
    this.cache = options.cache;
    this.generations = options.generations;
    this.maker = options.maker;
    this.clock = options.clock;
    this.ages = options.ages;
    this.validSinceMs = options.validSinceMs;
    this.arrivedMs = options.arrivedMs;
    this.onReplaced = options.onReplaced;
  }

  /**
   * Learns which lists were behind when the service stopped. After a crash nobody knows: then all of them are, and each
   * is made again when it is asked for.
   */
  async restore(): Promise<void> {
    const mark = ((await this.cache.getMark(BEHIND_MARK)) ?? undefined) as BehindMark | undefined;
    await this.cache.putMark(BEHIND_MARK, null);
    if (mark === undefined) {
      this.unknownUntilMs = this.clock();
      return;
    }
    this.dirty.restore(mark.dirty);
    this.arrivedBeforeMs = mark.arrivedMs;
    this.unknownUntilMs = mark.unknownUntilMs;
  }

  /** Stores what is not stored yet. No list may be asked for any more. */
  async close(): Promise<void> {
    await this.flush();
    this.dirty.absorb(this.changedInPass);
    const { bytes: dirty } = this.dirty;
    const arrivedMs = Math.max(this.arrivedBeforeMs, this.arrivedMs());
    const { unknownUntilMs } = this;
    await this.cache.putMark(BEHIND_MARK, { dirty, arrivedMs, unknownUntilMs } satisfies BehindMark);
  }

  /** Notes that the user's feedback changed. */
  markDirty(userRow: number): void {
    this.dirty.set(userRow, true);
    if (this.passing) this.changedInPass.set(userRow, true);
  }

  /** Lists were stored by other threads: looks at them from now on. */
  refresh(): void {
    this.cache.local?.refresh();
    this.onReplaced();
  }

  /** A pass that replaces all lists begins: it may not see feedback that comes from now on. */
  beginPass(): void {
    this.passing = true;
  }

  /** @param replaced true when the pass made all lists anew: only what changed since it began is behind then */
  endPass(replaced: boolean): void {
    this.passing = false;
    if (replaced) this.dirty.clear();
    this.dirty.absorb(this.changedInPass);
  }

  /** The user's list as of its last feedback; undefined when there is nothing to make one from. */
  of(history: History): UserList | undefined {
    const row = history.userRow;
    if (row < 0) return undefined;
    const list = this.last(row);
    if (list === undefined) return this.remake(history);
    const effectiveMs = history.untilMs - (this.clock() - list.madeMs);
    if (!this.isBehind(list) && !this.maker.hasNews(history, effectiveMs)) return list;
    return this.remake(history) ?? (this.clock() - list.madeMs > this.ages.expireMs ? undefined : list);
  }

  /** The list made last with the settings of today, however old. Valid until the next call. */
  last(userRow: number): UserList | undefined {
    const list = this.unsaved.get(userRow) ?? this.cache.local?.readList(userRow);
    return list !== undefined && list.madeMs >= this.validSinceMs ? list : undefined;
  }

  /** True when the list has to be made again before it is served. */
  isBehind({ userRow, madeMs }: Pick<UserList, 'userRow' | 'madeMs'>, nowMs = this.clock()): boolean {
    const { refreshMs, expireMs, arrivalMs } = this.ages;
    const ageMs = nowMs - madeMs;
    return (
      madeMs < this.validSinceMs ||
      ageMs > refreshMs ||
      ageMs > expireMs ||
      madeMs < this.unknownUntilMs ||
      (ageMs > arrivalMs && madeMs <= Math.max(this.arrivedBeforeMs, this.arrivedMs())) ||
      this.dirty.has(userRow) ||
      this.changedInPass.has(userRow)
    );
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
    const made = this.maker.make(history);
    if (made === undefined) return undefined;
    const list = {
      userRow: history.userRow,
      generation: this.generations.current?.number ?? 0,
      madeMs: this.clock(),
      itemRows: Uint32Array.from(made.rows),
      scores: Float32Array.from(made.scores),
    };
    this.dirty.set(history.userRow, false);
    this.unsaved.set(history.userRow, list);
    this.saving ??= this.save();
    this.onReplaced(history.userRow);
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
