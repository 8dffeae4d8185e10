import type { Clock } from '../../domain/clock.ts';
import { BoundedQueue } from '../../platform/concurrency/bounded-queue.ts';
import { turns } from '../../platform/concurrency/event-loop-turns.ts';
import type { CacheStore, UserList } from '../../store/cache-store.ts';
import type { ItemFilter } from '../catalogue/item-filter.ts';
import type { History } from '../history/history.ts';
import type { GenerationSlot } from '../models/generation-slot.ts';
import type { ActiveUsers } from './active-users.ts';
import {
  type Dated,
  Freshness,
  type FreshnessOptions,
  isDoubtful,
  isServable,
  type Verdict,
} from './freshness.ts';
import { insertNewItems } from './insert-new-items.ts';
import { ListPlace } from './list-place.ts';
import { ListQueue, type ListWorker, type Remade } from './list-queue.ts';
import { MainThreadTime, RECORDS_HERE_MAX } from './main-thread-time.ts';
import { type Found, findWanted, type Question } from './maker/answer-from-models.ts';
import type { ListMaker } from './maker/list-maker.ts';

/** With so many lists ahead in the queue nobody waits: the older list is served. */
const WAIT_LENGTH_MAX = 16;

export interface UserListsOptions extends Omit<FreshnessOptions, 'generation' | 'effects'> {
  readonly cache: CacheStore;
  readonly generations: GenerationSlot;
  readonly maker: ListMaker;
  readonly active: ActiveUsers;
  /** One more than the highest user row ever given. */
  readonly userCount: () => number;
  /** False while counts of feedback are awaited by which lists are ranked: none is made before. */
  readonly isSettled: () => boolean;
  readonly itemCount: () => number;
  readonly clock: Clock;
  /** A clock that never goes back, milliseconds. */
  readonly elapsedMs: () => number;
  /** Share of this thread's time for making lists again. */
  readonly share: number;
  /** Items that became listable after a time, milliseconds since the epoch; undefined when they are too many. */
  readonly arrivalsSince: (sinceMs: number) => readonly number[] | undefined;
  readonly worker: ListWorker;
  /** True where some of what lists are made of is to be had in a worker alone. */
  readonly needsWorker: boolean;
  /** Called when the user's list is another. */
  readonly onReplaced: (userRow: number) => void;
  readonly onTrouble: (message: string, error: unknown) => void;
}

/**
 * The users' lists, kept in step with their feedback. New feedback marks a user; the next request folds the user in
 * against the current item factors and replaces the list (Hu, Koren, Volinsky 2008, section 4: a user's vector follows
 * from its feedback and the item factors alone). A user who is not asked for costs a bit or two, so a flood of feedback
 * makes nobody wait. Three decide: `Freshness` whether a list is good, `MainThreadTime` whether this thread makes
 * another, and `ListQueue` which one a worker makes next.
 */
export class UserLists {
  /** Decides what workers make next; a pass over all users asks it. */
  readonly queue: ListQueue;
  private readonly options: UserListsOptions;
  private readonly freshness: Freshness;
  private readonly time: MainThreadTime;
  private readonly place: ListPlace;
  /** Questions that this thread answers itself, one a turn of the event loop. */
  private readonly turns = new BoundedQueue({ atWorkMax: 1, refusedFor: 'lists' });

  constructor(options: UserListsOptions) {
    this.options = options;
    const { cache, maker, share, elapsedMs: now, itemCount, worker, onReplaced, onTrouble } = options;
    const generation = () => this.generation;
    this.freshness = new Freshness({ ...options, generation, effects: maker });
    this.time = new MainThreadTime({ share, now, itemCount });
    const { freshness } = this;
    this.place = new ListPlace({
      cache,
      isOfToday: (list) => freshness.isOfToday(list),
      onTrouble: (error) => onTrouble('lists cannot be stored in the cache', error),
      onLost: (userRow) => freshness.markDirty(userRow),
    });
    this.queue = new ListQueue({
      place: this.place,
      freshness,
      worker,
      generation,
      elapsedMs: now,
      onMade: (...made) => this.takeRemade(...made),
      onReplaced,
      onTrouble: (error) => onTrouble('lists could not be made again', error),
    });
  }

  /** Learns which lists were stale when the service stopped, and who was seen. */
  async restore(): Promise<void> {
    const { active, cache, userCount } = this.options;
    await this.freshness.restore(cache);
    await active.restore(cache, userCount());
  }

  /** Stores what is not stored yet. No list may be asked for any more. */
  async close(): Promise<void> {
    await this.queue.close();
    await this.place.flush();
    await this.freshness.save(this.options.cache);
    await this.saveSeen();
  }

  /** Users with feedback since their list was made. */
  get staleCount(): number {
    return this.freshness.dirtyCount;
  }

  /** True where lists say what they were made from. */
  get isVersioned(): boolean {
    return this.freshness.isVersioned;
  }

  /** Notes that the user's feedback changed. @param retracted whether some was taken back */
  markDirty(userRow: number, retracted = false): void {
    this.freshness.markDirty(userRow, retracted);
    this.freshness.fruitless.forget(userRow);
    this.queue.markChanged(userRow, retracted);
  }

  /** Drops the lists of users that are gone, what is being made of them included. */
  delete(userRows: readonly number[]): void {
    for (const userRow of userRows) {
      this.markDirty(userRow, true);
      this.drop(userRow);
    }
  }

  /** Keeps who was seen, so that a crash loses no more than what came since. */
  async saveSeen(): Promise<void> {
    const { active, cache, userCount } = this.options;
    await active.save(cache, userCount());
  }

  /** Waits until every list made so far is stored. */
  async flush(): Promise<void> {
    await this.place.flush();
  }

  /** Asks for the user's list, to be given to `of`, where lists are not at hand; undefined where they are. */
  fetch(userRow: number): Promise<UserList | undefined> | undefined {
    return this.place.fetch(userRow);
  }

  /** The list made last with the settings of today, however old, wherever it is kept. */
  async find(userRow: number): Promise<UserList | undefined> {
    return this.place.last(userRow, await this.place.fetch(userRow));
  }

  /** The items of the user's last list, where none of them may have been found by feedback that was taken back. */
  lastRows(userRow: number): ArrayLike<number> {
    const last = this.place.last(userRow);
    return last === undefined || isDoubtful(this.freshness.of(last)) ? [] : last.itemRows;
  }

  /** True when a kept answer out of the list is not to be served before somebody has looked after the list. */
  isStale(list: Dated, nowMs: number): boolean {
    const verdict = this.freshness.of(list, undefined, nowMs);
    if (verdict === 'good') return false;
    if (!isServable(verdict)) return true;
    if (this.queue.has(list.userRow)) return false;
    // A list that is only old can wait until there is time for it.
    return verdict === 'behind' || verdict === 'unknown' || this.time.isLeft;
  }

  /** The user's list where it lacks nothing and `of` would answer it as it is; asks no model. */
  ready(history: History): UserList | undefined {
    // Whether another node has made it with the generation that is to serve is not known before that is there.
    if (this.isVersioned || history.userRow < 0) return undefined;
    const list = this.place.last(history.userRow);
    return list !== undefined && this.freshness.of(list, history) === 'good' ? list : undefined;
  }

  /**
   * The user's list as of its last feedback, or, where that would take more time than there is or feedback is not counted
   * yet, the one before; undefined when there is none.
   * @param fetched what `fetch` has found for the user
   * @param signal aborted when nobody waits for it any more
   */
  of(
    history: History,
    fetched?: UserList,
    signal?: AbortSignal,
  ): UserList | undefined | Promise<UserList | undefined> {
    const { freshness, time, queue } = this;
    const { userRow } = history;
    if (userRow < 0) return undefined;
    const list = this.place.last(userRow, fetched);
    // Somebody without a list may have taken back what one that is being made was found by.
    const verdict: Verdict =
      list !== undefined ? freshness.of(list, history) : freshness.hasRetracted(userRow) ? 'wrong' : 'behind';
    if (list !== undefined && verdict === 'good') return freshness.asOfGeneration(list);
    if (list !== undefined && verdict === 'arrivals') return this.extend(history, list);
    if (freshness.fruitless.has(history) || !this.options.isSettled()) return this.lastServed(list, verdict);
    if (verdict === 'wrong' && this.options.needsWorker) return this.madeInWorker(history, signal);
    const served = isServable(verdict) ? list : undefined;
    const takesLong = time.takesLong(history);
    const isTime = verdict === 'wrong' || (time.isLeft && !(served && queue.takesOver(userRow)));
    if (isTime && !takesLong) return this.makeHere(history, list, verdict);
    const isShort = takesLong && queue.ahead < WAIT_LENGTH_MAX;
    if (verdict === 'wrong' || isShort) return this.madeInWorker(history, signal);
    queue.renew(userRow);
    return served;
  }

  /**
   * Answers a question with the models: here where that is short, else in a worker.
   * @throws FurzeError OVERLOADED when too many wait; the signal's reason once it is aborted
   */
  async answer(
    history: History,
    items: ItemFilter,
    asked: Omit<Question, 'userRow' | 'items'>,
    signal?: AbortSignal,
  ): Promise<Found> {
    const { userRow } = history;
    if (this.time.takesLong(history))
      return this.queue.ask({ ...asked, userRow, items: items.packed() }, signal);
    return this.time.spend(() => findWanted(this.options.maker, history, items, asked));
  }

  /**
   * Resolves when it is the user's turn to have a list made for a question, one a turn of the event loop.
   * @throws FurzeError OVERLOADED when too many wait; the signal's reason once it is aborted
   */
  async takeTurn(user: number, signal?: AbortSignal): Promise<void> {
    await this.turns.run(() => turns.take(), signal, { kind: 'turns', user });
  }

  private get generation(): number {
    return this.options.generations.current.number;
  }

  /** Takes in what became listable after the list was made, where its scores can be compared with the list's. */
  private extend(history: History, list: UserList): UserList {
    const { maker, arrivalsSince, clock, isSettled } = this.options;
    if (!this.time.isLeft || !isSettled()) return list;
    if (history.length > RECORDS_HERE_MAX) {
      this.queue.renew(list.userRow);
      return list;
    }
    const rows = arrivalsSince(list.knowsMs);
    if (rows === undefined || list.generation !== this.generation)
      return this.makeHere(history, list, 'arrivals') ?? list;
    const knowsMs = clock();
    const { itemRows, scores } = this.time.spend(() => insertNewItems(maker, history, list, rows));
    const extended = { ...list, knowsMs, itemRows, scores };
    this.place.put(extended);
    this.options.onReplaced(list.userRow);
    return extended;
  }

  private makeHere(history: History, last: UserList | undefined, verdict: Verdict): UserList | undefined {
    const { maker, clock, needsWorker } = this.options;
    const { userRow } = history;
    const madeMs = clock();
    const made = this.place.considering(last, () => this.time.spend(() => maker.make(history)));
    const isWrong = last !== undefined && isDoubtful(verdict);
    // What is not known to be right after a crash the list does without, until a worker has found it anew.
    if (isWrong && needsWorker) this.queue.renew(userRow);
    if (made === undefined) {
      if (isWrong) this.drop(userRow);
      this.freshness.fruitless.note(history);
      return this.lastServed(last, verdict);
    }
    const list = {
      userRow,
      generation: this.generation,
      madeMs,
      knowsMs: madeMs,
      itemRows: Uint32Array.from(made.rows),
      scores: Float32Array.from(made.scores),
      ...this.freshness.basisOf(history),
    };
    // Without a worker nobody has looked for users like this one.
    this.put(list, !needsWorker);
    return list;
  }

  /** Waits for a worker. The history may be another user's by then. */
  private async madeInWorker(
    history: History,
    signal: AbortSignal | undefined,
  ): Promise<UserList | undefined> {
    const { freshness } = this;
    const { clock } = this.options;
    const { userRow, nextEffectMs } = history;
    const version = freshness.basisOf(history).basis?.version;
    const askedMs = clock();
    await this.queue.wait(userRow, signal);
    // What is noted of the queue's users is not as of their feedback.
    if (freshness.fruitless.has({ userRow, untilMs: clock() }))
      freshness.fruitless.note({ userRow, nextEffectMs });
    const list = this.place.last(userRow);
    if (list === undefined || !isServable(freshness.of(list))) return undefined;
    const isRetracted = freshness.isVersioned && list.madeMs < askedMs && list.basis?.version !== version;
    return isRetracted ? undefined : list;
  }

  /** The list for somebody of whom no other can be made: the last one, unless it may hold what was taken back. */
  private lastServed(last: UserList | undefined, verdict: Verdict): UserList | undefined {
    return isDoubtful(verdict) || !isServable(verdict) ? undefined : last;
  }

  private takeRemade(
    { lists, forsaken }: Remade,
    unchanged: readonly number[],
    changed: readonly number[],
    generation: number,
  ): void {
    const settled = new Set(unchanged);
    const behind = new Set(changed);
    for (const list of lists) {
      if (settled.delete(list.userRow)) this.put(list, true);
      else if (behind.has(list.userRow)) this.putBehind(list);
    }
    const gone = new Set(forsaken);
    for (const userRow of settled) {
      // With versions, whoever asks next sees by the list itself whether it is of the feedback there is.
      const last = this.isVersioned ? undefined : this.place.last(userRow);
      if (gone.has(userRow) || (last !== undefined && isDoubtful(this.freshness.of(last))))
        this.drop(userRow);
      this.freshness.markMade(userRow);
      this.freshness.fruitless.note({ userRow, nextEffectMs: Number.POSITIVE_INFINITY }, generation);
    }
  }

  /**
   * Takes a list whose user has new feedback by now: it is served until the next one is made, or who writes all the time
   * would never get another. What was taken back it may hold, and what was made here since knows more.
   */
  private putBehind(list: UserList): void {
    const { userRow } = list;
    if (!this.freshness.isDirty(userRow) || this.freshness.hasRetracted(userRow)) return;
    const last = this.place.last(userRow);
    if (last !== undefined && last.madeMs >= list.madeMs) return;
    this.place.put(list);
    this.options.onReplaced(userRow);
  }

  /** @param isWhole whether it was made of all that a pass would make it of */
  private put(list: UserList, isWhole: boolean): void {
    this.queue.noteMade(list, isWhole);
    this.freshness.markMade(list.userRow);
    this.place.put(list);
    this.options.onReplaced(list.userRow);
  }

  private drop(userRow: number): void {
    this.freshness.markMade(userRow);
    this.place.remove(userRow);
    this.options.onReplaced(userRow);
  }
}
