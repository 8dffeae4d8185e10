import { BoundedQueue, WAITING_MAX } from '../../platform/concurrency/bounded-queue.ts';
import { unlessAborted } from '../../platform/concurrency/unless-aborted.ts';
import type { UserList } from '../../store/cache-store.ts';
import { UserBits } from '../rows/user-bits.ts';
import type { Freshness } from './freshness.ts';
import type { ListPlace } from './list-place.ts';
import type { Found, Question } from './maker/answer-from-models.ts';

const BATCH_USERS = 32;
/** Time that a job may take as far as the last one tells, milliseconds: others wait for it. */
const BATCH_MS = 250;
/** Of the lists of a job one is a renewal for so many places, where somebody waits for other work. */
const RENEWAL_SHARE = 8;
/** Users whose lists are to be renewed at most: a bound on memory. The others are noted when they are asked for again. */
const RENEWALS_MAX = 100_000;

/** The lists that a worker made of the users that it was given. */
export interface Remade {
  readonly lists: readonly UserList[];
  /** Users without positive feedback for whom there is no list. */
  readonly forsaken: readonly number[];
}

/** The thread that makes lists for requests, one piece of work at a time. */
export interface ListWorker {
  /** @param isAwaited whether requests wait for some of the lists */
  make(userRows: readonly number[], isAwaited: boolean): Promise<Remade>;
  /** Answers one question with the models. */
  answer(question: Question): Promise<Found>;
}

/** The course of a user's list that is being made; `void` where nobody may see that list. */
type Course = 'unchanged' | 'changed' | 'void';

/** The end of a piece of work, told to those who wait for it. */
interface Ending {
  readonly promise: Promise<boolean>;
  /** @param isDone whether the work was done */
  readonly resolve: (isDone: boolean) => void;
}

/** Users whose lists a pass makes together. */
export interface PassBlock {
  /** Users of the block who need a list. */
  readonly userRows: Uint32Array;
  /** To be called at the end, with whether all of them are stored. */
  readonly end: (areStored: boolean) => void;
}

export interface ListQueueOptions {
  readonly place: ListPlace;
  readonly freshness: Freshness;
  readonly worker: ListWorker;
  /** Number of the generation that serves, 0 for none. */
  readonly generation: () => number;
  /** A clock that never goes back, milliseconds. */
  readonly elapsedMs: () => number;
  /**
   * Told of what was made, of users whose feedback stayed as it was meanwhile, of those whose feedback changed, and of the
   * generation that served when it was begun.
   */
  readonly onMade: (
    remade: Remade,
    unchanged: readonly number[],
    changed: readonly number[],
    generation: number,
  ) => void;
  /** Told of each user who may have another list. */
  readonly onReplaced: (userRow: number) => void;
  readonly onTrouble: (error: unknown) => void;
}

/**
 * Decides which list is made next by a worker, each once. First come lists and questions that requests wait for, in turn;
 * then renewals, for which nobody waits; then the pass over all users, which has threads of its own and takes over
 * renewals while it runs. The pass leaves out whose list was made since it began. Lists that were stale when it began
 * are left to it, so that requests do not make all of them first.
 */
export class ListQueue {
  private readonly options: ListQueueOptions;
  private readonly lane = new BoundedQueue({ atWorkMax: 1, refusedFor: 'lists' });
  /** Users in the order in which they came, with the number of requests that wait for the list. */
  private readonly waiting = new Map<number, { readonly made: Ending; requests: number }>();
  private readonly renewals = new Set<number>();
  private readonly underWay = new Map<number, Course>();
  /** The job that is under way, or was last. */
  private job: { readonly ended: Ending; readonly generation: number } | undefined;
  /** Time that a list of it took, milliseconds. */
  private listMs = 0;
  private running: Promise<void> | undefined;
  private closed = false;
  private course: { readonly generation: number; readonly beganMs: number } | undefined;
  /** Users whose last list is of the pass's generation and not older than it; of their feedback as it is unless that counts as new. */
  private readonly current = new UserBits();
  /** Users whose feedback has changed since the pass began: they are not left to it. */
  private readonly changed = new UserBits();
  /** Blocks of the pass that are under way, and their ends. */
  private readonly blocks = new Map<Uint32Array, Ending>();

  constructor(options: ListQueueOptions) {
    this.options = options;
  }

  /** Users whose lists are made before that of whoever waits from now on. */
  get ahead(): number {
    return this.waiting.size + this.underWay.size;
  }

  /** True for a user whose list is to be made, or is being made of the feedback as it is. */
  has(userRow: number): boolean {
    return (
      this.renewals.has(userRow) ||
      this.waiting.has(userRow) ||
      this.underWay.get(userRow) === 'unchanged' ||
      this.isInPass(userRow)
    );
  }

  /** True for a user whose list was stale when the pass began that is under way: it is about to be made. */
  takesOver(userRow: number): boolean {
    return this.course !== undefined && !this.changed.has(userRow);
  }

  /** Asks for a user's list for which nobody waits. */
  renew(userRow: number): void {
    if (this.closed || this.has(userRow) || this.renewals.size >= RENEWALS_MAX) return;
    this.renewals.add(userRow);
    this.start();
  }

  /**
   * Resolves once the user's list is made, cannot be made, or would come too late because too many wait.
   * @throws the signal's reason once it is aborted; a list that nobody waits for any more is not begun
   */
  async wait(userRow: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const until = (end: Ending) => (signal === undefined ? end.promise : unlessAborted(end.promise, signal));
    for (const [userRows, end] of this.blocks) {
      if (!this.isInPass(userRow) || !userRows.includes(userRow)) continue;
      if ((await until(end)) && !this.options.freshness.hasChanged(userRow)) return;
    }
    if (this.closed) return;
    if (this.job !== undefined && this.underWay.get(userRow) === 'unchanged') {
      await until(this.job.ended);
      return;
    }
    const waiting = this.waiting.get(userRow) ?? this.begin(userRow);
    if (waiting === undefined) {
      this.renew(userRow);
      return;
    }
    waiting.requests++;
    try {
      await until(waiting.made);
    } finally {
      if (--waiting.requests === 0 && this.waiting.get(userRow) === waiting) this.waiting.delete(userRow);
    }
  }

  /**
   * Answers one question with the models.
   * @throws FurzeError OVERLOADED when too many wait; the signal's reason once it is aborted before its turn
   */
  ask(question: Question, signal?: AbortSignal): Promise<Found> {
    const kind = question.known === undefined ? 'wished lists' : 'categories';
    const line = { kind, user: question.userRow };
    return this.lane.run(() => this.options.worker.answer(question), signal, line);
  }

  /** The user's feedback changed. @param retracted whether some was taken back, or the user is gone: nobody may see what is being made */
  markChanged(userRow: number, retracted: boolean): void {
    this.changed.add(userRow);
    const course = this.underWay.get(userRow);
    if (course !== undefined && retracted) this.underWay.set(userRow, 'void');
    else if (course === 'unchanged') this.underWay.set(userRow, 'changed');
  }

  /** Notes a list that was made. @param isWhole whether it was made of all that a pass would make it of */
  noteMade({ userRow, generation, madeMs }: UserList, isWhole: boolean): void {
    const { course } = this;
    if (isWhole && course?.generation === generation && madeMs >= course.beganMs) this.current.add(userRow);
    else this.current.delete(userRow);
  }

  /**
   * A pass begins.
   * @param generation number of the one that it makes lists with
   * @param beganMs when it first did, milliseconds since the epoch
   * @returns a function to call when it ends, whichever way
   */
  beginPass(generation: number, beganMs: number): () => void {
    // Lists that say what they were made from tell a pass by themselves which are as of now.
    if (this.options.freshness.isVersioned) return () => {};
    this.current.clear();
    this.changed.clear();
    this.course = { generation, beganMs };
    return () => {
      this.course = undefined;
      this.current.clear();
      this.start();
    };
  }

  /** A pass over the active users that began then is over: the lists of others are old, and made again when asked for. */
  endPass(beganMs: number): void {
    this.options.freshness.endPass(beganMs);
  }

  /** Hands renewals over to a pass, `limit` at most; to be given to `beginBlock`. */
  takeRenewals(limit: number): Uint32Array {
    const rows: number[] = [];
    if (this.course === undefined) return Uint32Array.from(rows);
    for (const row of this.renewals) {
      if (rows.length >= limit) break;
      this.renewals.delete(row);
      rows.push(row);
    }
    return Uint32Array.from(rows);
  }

  /**
   * A worker begins to make lists of these users, but of whom one does so already: a second one would write over the
   * first one's, which may know of less feedback or of more.
   * @param madeMs what its lists will say of when they were made
   */
  beginBlock(userRows: Uint32Array, madeMs: number): PassBlock {
    const { freshness, place, onReplaced } = this.options;
    const missing = userRows.filter(
      (row) => !place.isHeld(row) && !this.isInJob(row) && (!this.current.has(row) || freshness.isDirty(row)),
    );
    freshness.beginBlock(missing);
    place.hold(missing);
    const ended = ending();
    this.blocks.set(missing, ended);
    const end = (areStored: boolean) => {
      const isMade = (row: number) => areStored && !freshness.hasChanged(row);
      place.release(missing, madeMs, isMade);
      for (const row of missing) {
        if (isMade(row)) {
          freshness.markMade(row);
          if (this.course !== undefined) this.current.add(row);
        }
        onReplaced(row);
      }
      this.blocks.delete(missing);
      ended.resolve(areStored);
    };
    return { userRows: missing, end };
  }

  /** Begins nothing more. Resolves when nothing is at work. */
  async close(): Promise<void> {
    this.closed = true;
    await this.running;
  }

  /** True for a user whose list a pass makes at the moment, of the feedback as it is. */
  private isInPass(userRow: number): boolean {
    const { place, freshness } = this.options;
    return place.isHeld(userRow) && !freshness.hasChanged(userRow);
  }

  /** True for a user whose list a request's job makes at the moment, of the feedback as it is and by the models of the pass. */
  private isInJob(userRow: number): boolean {
    return this.underWay.get(userRow) === 'unchanged' && this.job?.generation === this.course?.generation;
  }

  /** Puts a user in line, for whom a first request waits; undefined where too many wait. */
  private begin(userRow: number) {
    if (this.waiting.size >= WAITING_MAX) return undefined;
    const waiting = { made: ending(), requests: 0 };
    this.waiting.set(userRow, waiting);
    this.renewals.delete(userRow);
    this.start();
    return waiting;
  }

  private get hasWork(): boolean {
    return !this.closed && (this.waiting.size > 0 || (this.course === undefined && this.renewals.size > 0));
  }

  private start(): void {
    if (this.hasWork) this.running ??= this.run();
  }

  private async run(): Promise<void> {
    // One turn later, so that the requests of this turn share a job.
    await Promise.resolve();
    while (this.hasWork) await this.lane.run(() => this.makeNext(), undefined, { kind: 'lists', user: 0 });
    for (const [, { made }] of this.waiting) made.resolve(false);
    this.waiting.clear();
    this.running = undefined;
  }

  private async makeNext(): Promise<void> {
    const { worker, generation, elapsedMs, onMade, onTrouble } = this.options;
    if (this.closed) return;
    const places = Math.min(BATCH_USERS, Math.max(1, Math.floor(BATCH_MS / this.listMs)));
    const waiters = this.takeWaiting(places);
    const isAlone = this.lane.waiting === 0;
    this.takeOwnRenewals(
      isAlone ? places : Math.min(places, waiters.length + Math.ceil(places / RENEWAL_SHARE)),
    );
    const userRows = [...this.underWay.keys()];
    if (userRows.length === 0) return;
    const ended = ending();
    this.job = { ended, generation: generation() };
    const beganMs = elapsedMs();
    try {
      const remade = await worker.make(userRows, waiters.length > 0);
      const those = (course: Course) => userRows.filter((userRow) => this.underWay.get(userRow) === course);
      onMade(remade, those('unchanged'), those('changed'), this.job.generation);
    } catch (error) {
      if (!this.closed) onTrouble(error);
    } finally {
      this.listMs = (elapsedMs() - beganMs) / userRows.length;
      this.underWay.clear();
      for (const { made } of waiters) made.resolve(true);
      ended.resolve(true);
    }
  }

  private takeWaiting(places: number) {
    const taken: { readonly made: Ending }[] = [];
    for (const [userRow, waiting] of this.waiting) {
      if (this.underWay.size >= places) break;
      this.waiting.delete(userRow);
      this.underWay.set(userRow, 'unchanged');
      taken.push(waiting);
    }
    return taken;
  }

  private takeOwnRenewals(places: number): void {
    if (this.course !== undefined) return;
    for (const userRow of this.renewals) {
      if (this.underWay.size >= places) break;
      this.renewals.delete(userRow);
      this.underWay.set(userRow, 'unchanged');
    }
  }
}

function ending(): Ending {
  let resolve: Ending['resolve'] = () => {};
  const promise = new Promise<boolean>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
