import type { UserList } from '../../store/cache-store.ts';
import type { History } from '../history/history.ts';
import { insertNewItems } from './insert-new-items.ts';
import { ListWriter } from './list-writer.ts';
import { MainThreadOrWorker, RECORDS_HERE_MAX } from './main-thread-or-worker.ts';
import { PassAndRequests } from './reconcile-pass-with-requests.ts';
import { type Remade, RemakeQueue } from './remake-queue.ts';
import type { Dated, Lack } from './stale-lists.ts';
import type { UserListsOptions } from './user-lists-options.ts';
import { UsersWithoutList } from './users-without-list.ts';

/** With so many lists ahead in the queue nobody waits: the older list is served. */
const WAIT_LENGTH_MAX = 16;

/**
 * The users' cached lists, kept in step with their feedback. New feedback marks a user; the next request folds the user
 * in against the current item factors and replaces the list (Hu, Koren, Volinsky 2008, section 4: a user's vector
 * follows from its feedback and the item factors alone). Whoever is not asked for costs a bit or two, so a flood of
 * feedback makes nobody wait. What goes into it of the serving thread's time is limited: beyond that the older list is
 * served, and a worker makes the new one.
 */
export class UserLists {
  /** Tells what this thread makes itself. */
  readonly mainThread: MainThreadOrWorker;
  /** What a pass over all users and this know of each other. */
  readonly passes: PassAndRequests;
  private readonly options: UserListsOptions;
  private readonly writer: ListWriter;
  private readonly queue: RemakeQueue;
  private readonly nothing: UsersWithoutList;
  /** The list that another is made after, where lists are not at hand. */
  private considered: UserList | undefined;
  private lastGeneration = 0;
  /** What a worker makes is made with this one, or a later one. */
  private workerGeneration = 0;
  /** Since when lists are made with it here, milliseconds since the epoch. */
  private generationMs = Number.NEGATIVE_INFINITY;

  constructor(options: UserListsOptions) {
    this.options = options;
    this.mainThread = new MainThreadOrWorker(options);
    const { cache, staleLists, generations, clock, makeInWorker, onTrouble } = options;
    const generation = () => generations.current?.number ?? 0;
    this.nothing = new UsersWithoutList(clock, staleLists.arrivalMs, generation);
    this.writer = new ListWriter({
      cache,
      onTrouble: (error) => onTrouble('lists cannot be stored in the cache', error),
      onLost: (userRow) => staleLists.markDirty(userRow),
    });
    this.queue = new RemakeQueue({
      makeInWorker: (userRows) => {
        this.workerGeneration = generation();
        return makeInWorker(userRows);
      },
      isInPass: (userRow) => this.passes.isMaking(userRow),
      onMade: (remade, unchanged, changed) => this.takeRemade(remade, unchanged, changed),
      onTrouble: (error) => onTrouble('lists could not be made again', error),
    });
    const { writer, queue, isVersioned } = this;
    const { onReplaced } = options;
    this.passes = new PassAndRequests({ cache, staleLists, writer, queue, isVersioned, onReplaced });
  }

  /** Learns which lists were stale when the service stopped, and who was seen. */
  async restore(): Promise<void> {
    const { staleLists, active, cache, userCount, versions } = this.options;
    if (versions === undefined) await staleLists.restore(cache);
    else staleLists.forget();
    await active.restore(cache, userCount());
  }

  /** Stores what is not stored yet. No list may be asked for any more. */
  async close(): Promise<void> {
    await this.queue.close();
    await this.writer.flush();
    const { staleLists, cache, versions } = this.options;
    if (versions === undefined) await staleLists.save(cache);
    await this.saveSeen();
  }

  /** Users with feedback since their list was made. */
  get staleCount(): number {
    return this.options.staleLists.dirtyCount;
  }

  /** Notes that the user's feedback changed. @param retracted whether some was taken back */
  markDirty(userRow: number, retracted = false): void {
    this.options.staleLists.markDirty(userRow, retracted);
    this.nothing.forget(userRow);
    this.passes.noteChanged(userRow);
    if (retracted) this.queue.markVoid(userRow);
    else this.queue.markChanged(userRow);
  }

  /** Keeps who was seen, so that a crash loses no more than what came since. */
  async saveSeen(): Promise<void> {
    const { active, cache, userCount } = this.options;
    await active.save(cache, userCount());
  }

  /** True where lists say what they were made from. */
  get isVersioned(): boolean {
    return this.options.versions !== undefined;
  }

  /** Asks for the user's list, which `of` then judges, where lists are not at hand; undefined where they are. */
  fetch(userRow: number): Promise<UserList | undefined> | undefined {
    const { cache } = this.options;
    if (userRow < 0 || cache.local !== undefined || this.writer.get(userRow) !== undefined) return undefined;
    return cache.getList(userRow);
  }

  /** The user's list where it lacks nothing and `of` would answer it as it is; asks no model. */
  ready(history: History): UserList | undefined {
    const { staleLists, maker, clock } = this.options;
    // Whether another node has made it with the generation that is to serve is not known before that is there.
    if (this.isVersioned || history.userRow < 0) return undefined;
    const list = this.last(history.userRow);
    if (list === undefined || staleLists.lackOf(list) !== 'nothing') return undefined;
    const madeUntilMs = history.untilMs - (clock() - list.madeMs);
    const isOld = maker.hasExpired(history, madeUntilMs) || maker.hasNews(history, madeUntilMs);
    return isOld ? undefined : list;
  }

  /**
   * The user's list as of its last feedback, or, where that would take more time than there is or feedback is not counted
   * yet, the one before; undefined when there is none.
   * @param fetched what `fetch` has found for the user
   */
  of(history: History, fetched?: UserList): UserList | undefined | Promise<UserList | undefined> {
    const { staleLists, maker, clock, budget, needsWorker, isSettled } = this.options;
    const { userRow } = history;
    if (userRow < 0) return undefined;
    const isLong = history.length > RECORDS_HERE_MAX;
    const list = this.last(userRow, fetched);
    if (list !== undefined) {
      const lack = this.lackOf(list, history);
      const madeUntilMs = history.untilMs - (clock() - list.madeMs);
      if (maker.hasExpired(history, madeUntilMs)) staleLists.markDirty(userRow, true);
      else if (lack === 'nothing' || lack === 'arrivals') {
        if (!maker.hasNews(history, madeUntilMs))
          return lack === 'nothing' ? this.asOfGeneration(list) : this.extend(history, list, isLong);
        staleLists.markDirty(userRow);
      }
    }
    if (this.nothing.has(history) || !isSettled()) return this.lastServed(history, list);
    if (staleLists.hasRetracted(userRow) && needsWorker) return this.remadeInWorker(history);
    const isLeft = list !== undefined && !staleLists.isExpired(list) && this.passes.takesOver(userRow);
    const isTime = staleLists.hasRetracted(userRow) || (budget.isLeft && !isLeft);
    if (isTime && !this.mainThread.takesLong(history)) return this.remakeHere(history, list);
    return this.remakeInWorker(history, list);
  }

  /**
   * The list made last with the settings of today, however old. It is the caller's own, whatever is read after.
   * @param fetched what `fetch` has found for the user
   */
  last(userRow: number, fetched?: UserList): UserList | undefined {
    const change = this.writer.get(userRow);
    if (change === 'removed') return undefined;
    const list = change ?? fetched ?? this.stored(userRow);
    // By the time that it was fetched, the user's name may be that of another row.
    if (list?.userRow !== userRow) return undefined;
    const { versions, staleLists } = this.options;
    const isValid =
      versions === undefined ? staleLists.isValid(list) : list.basis?.settings === versions.settings;
    return isValid ? list : undefined;
  }

  /** The same, wherever it is kept. */
  async find(userRow: number): Promise<UserList | undefined> {
    return this.last(userRow, await this.fetch(userRow));
  }

  /** True when the user took feedback back since that list was made: what it holds may have been found by it. */
  isRetracted(list: Dated): boolean {
    return this.options.staleLists.isRetracted(list);
  }

  /** True when the list is not to be served as it is before somebody has looked after it. */
  isStale(list: Dated, nowMs: number): boolean {
    const { staleLists, budget, versions } = this.options;
    let lack: Lack;
    if (versions === undefined) lack = staleLists.lackOf(list, nowMs);
    else {
      this.noteGeneration();
      // Answers that are kept are forgotten with the commit that changes the user's feedback.
      lack = list.madeMs < this.generationMs ? 'age' : staleLists.lackByAge(list, nowMs);
    }
    if (lack === 'nothing' || this.queue.has(list.userRow)) return false;
    // What is only old can wait until there is time for it.
    return lack === 'feedback' || budget.isLeft;
  }

  /** Drops the lists of users that are gone, what is being made of them included. */
  delete(userRows: readonly number[]): void {
    for (const userRow of userRows) {
      this.markDirty(userRow, true);
      this.drop(userRow);
    }
  }

  /** Waits until every list made so far is stored. */
  async flush(): Promise<void> {
    await this.writer.flush();
  }

  /** What the cache hands out stands in memory that the next read of any store writes over. */
  private stored(userRow: number): UserList | undefined {
    const { local } = this.options.cache;
    if (local === undefined) return this.considered?.userRow === userRow ? this.considered : undefined;
    const list = local.readList(userRow);
    return list && { ...list, itemRows: list.itemRows.slice(), scores: list.scores.slice() };
  }

  private lackOf(list: UserList, history: History): Lack {
    const { staleLists, versions } = this.options;
    if (versions === undefined) return staleLists.lackOf(list);
    if (!versions.isOf(history, list.basis)) return 'feedback';
    staleLists.markMade(history.userRow);
    this.noteGeneration();
    return list.generation === this.lastGeneration ? staleLists.lackByAge(list) : 'age';
  }

  private noteGeneration(): void {
    const { generations, clock } = this.options;
    const number = generations.current?.number ?? 0;
    if (number === this.lastGeneration) return;
    this.lastGeneration = number;
    this.generationMs = clock();
  }

  /** Another node may have made a list with this generation before it was here; kept answers tell by the time alone. */
  private asOfGeneration(list: UserList): UserList {
    return list.madeMs < this.generationMs ? { ...list, madeMs: this.generationMs } : list;
  }

  /** Takes in what became listable after the list was made, where its scores can be compared with the list's. */
  private extend(history: History, list: UserList, isLong: boolean): UserList {
    const { maker, arrivalsSince, budget, generations, clock, isSettled } = this.options;
    if (!budget.isLeft || !isSettled()) return list;
    if (isLong) {
      this.queue.add(list.userRow);
      return list;
    }
    const rows = arrivalsSince(list.knowsMs);
    if (rows === undefined || list.generation !== (generations.current?.number ?? 0))
      return this.remakeHere(history, list) ?? list;
    const knowsMs = clock();
    const { itemRows, scores } = budget.spend(() => insertNewItems(maker, history, list, rows));
    const extended = { ...list, knowsMs, itemRows, scores };
    this.writer.put(extended);
    this.options.onReplaced(list.userRow);
    return extended;
  }

  private remakeHere(history: History, last: UserList | undefined): UserList | undefined {
    const { maker, generations, clock, budget, needsWorker, versions } = this.options;
    const { userRow } = history;
    const madeMs = clock();
    this.considered = last;
    const made = budget.spend(() => maker.make(history));
    this.considered = undefined;
    const isRetracted = last !== undefined && this.mayHoldRetracted(last, history);
    // What is not known to be right after a crash the list does without, until a worker has found it anew.
    if (isRetracted && needsWorker) this.queue.add(userRow);
    if (made === undefined) return this.keepOrDrop(history, last);
    const list = {
      userRow,
      generation: generations.current?.number ?? 0,
      madeMs,
      knowsMs: madeMs,
      itemRows: Uint32Array.from(made.rows),
      scores: Float32Array.from(made.scores),
      ...(versions !== undefined && { basis: versions.basisOf(history) }),
    };
    // Without a worker nobody has looked for users like this one.
    this.put(list, !needsWorker);
    return list;
  }

  private remakeInWorker(
    history: History,
    last: UserList | undefined,
  ): UserList | undefined | Promise<UserList | undefined> {
    const { staleLists } = this.options;
    const { userRow } = history;
    const mustBeNew = staleLists.hasRetracted(userRow);
    const isShort = this.mainThread.takesLong(history) && this.queue.ahead < WAIT_LENGTH_MAX;
    if (mustBeNew || isShort) return this.remadeInWorker(history);
    this.queue.add(userRow);
    return last !== undefined && staleLists.isExpired(last) ? undefined : last;
  }

  /** The history may be another user's once the worker is done. */
  private async remadeInWorker(history: History): Promise<UserList | undefined> {
    const { userRow } = history;
    const { staleLists, versions, clock } = this.options;
    const version = versions?.basisOf(history).version;
    const askedMs = clock();
    const { nextEffectMs } = history;
    await this.queue.wait(userRow);
    // Whoever notes it for the queue does not know the user's feedback.
    if (this.nothing.has({ userRow, untilMs: clock() })) this.nothing.note({ userRow, nextEffectMs });
    const list = this.last(userRow);
    if (list === undefined || staleLists.isExpired(list)) return undefined;
    const isRetracted =
      versions === undefined
        ? staleLists.hasRetracted(userRow)
        : list.madeMs < askedMs && list.basis?.version !== version;
    return isRetracted ? undefined : list;
  }

  /** True when the list may hold what was found by feedback that the user has taken back. */
  private mayHoldRetracted(list: UserList, history: History): boolean {
    const { staleLists, versions } = this.options;
    return versions === undefined ? staleLists.isRetracted(list) : !versions.isOf(history, list.basis);
  }

  /** There is nothing to make a list of: the last one goes where it was made of what the user took back. */
  private keepOrDrop(history: History, last: UserList | undefined): UserList | undefined {
    const served = this.lastServed(history, last);
    if (last !== undefined && this.mayHoldRetracted(last, history)) this.drop(history.userRow);
    this.nothing.note(history);
    return served;
  }

  /** What is served of whom no other list can be made: the last one, but not to whom took back what it was made of. */
  private lastServed(history: History, last: UserList | undefined): UserList | undefined {
    if (last === undefined || this.mayHoldRetracted(last, history)) return undefined;
    return this.options.staleLists.isExpired(last) ? undefined : last;
  }

  private takeRemade(
    { lists, forsaken }: Remade,
    unchanged: readonly number[],
    changed: readonly number[],
  ): void {
    const { staleLists } = this.options;
    const settled = new Set(unchanged);
    const behind = new Set(changed);
    for (const list of lists) {
      if (settled.delete(list.userRow)) this.put(list, true);
      else if (behind.has(list.userRow)) this.putBehind(list);
    }
    const gone = new Set(forsaken);
    for (const userRow of settled) {
      if (gone.has(userRow) || this.isLastRetracted(userRow)) this.drop(userRow);
      staleLists.markMade(userRow);
      this.nothing.note({ userRow, nextEffectMs: Number.POSITIVE_INFINITY }, this.workerGeneration);
    }
  }

  /** With versions, whoever asks next sees by the list itself whether it is of the feedback there is. */
  private isLastRetracted(userRow: number): boolean {
    if (this.isVersioned) return false;
    const last = this.last(userRow);
    return last !== undefined && this.options.staleLists.isRetracted(last);
  }

  /**
   * Takes a list whose user has new feedback by now: it is served until the next one is made, or who writes all the time
   * would never get another. What was taken back it may hold, and what was made here since knows more.
   */
  private putBehind(list: UserList): void {
    const { staleLists } = this.options;
    if (!staleLists.isDirty(list.userRow) || staleLists.hasRetracted(list.userRow)) return;
    const last = this.last(list.userRow);
    if (last !== undefined && last.madeMs >= list.madeMs) return;
    this.writer.put(list);
    this.options.onReplaced(list.userRow);
  }

  /** @param isWhole whether it was made of all that a pass would make it of */
  private put(list: UserList, isWhole: boolean): void {
    this.passes.noteMade(list, isWhole);
    this.options.staleLists.markMade(list.userRow);
    this.writer.put(list);
    this.options.onReplaced(list.userRow);
  }

  private drop(userRow: number): void {
    this.options.staleLists.markMade(userRow);
    this.writer.remove(userRow);
    this.options.onReplaced(userRow);
  }
}
