import type { Clock } from '../../domain/clock.ts';
import type { SavedStates, UserList } from '../../store/cache-store.ts';
import type { History } from '../history/history.ts';
import { UserBits } from '../rows/user-bits.ts';
import { forgetSeen } from './active-users.ts';
import { FruitlessAttempts } from './fruitless-attempts.ts';
import type { ListVersions } from './list-versions.ts';
import type { ListMaker } from './maker/list-maker.ts';
import { TimeMark } from './time-mark.ts';

/** Name of the state that tells which lists were stale when the service stopped. */
const STALE_STATE = 'lists-behind';

/**
 * Makes every list count as stale at the next start, after something else than a running service wrote to the data.
 */
export async function forgetStaleLists(states: SavedStates): Promise<void> {
  await states.putState(STALE_STATE, null);
  await forgetSeen(states);
}

/** A list stays as it is for so long at the least, whatever moves. */
const SETTLED_MS = 1000;

/** The part of freshness that is in memory alone. */
interface StaleState {
  readonly dirty: Uint8Array;
  readonly retracted?: Uint8Array;
  readonly arrivedMs: number;
  readonly unknownUntilMs: number;
}

export interface ListAges {
  /** A list is made again without new feedback. */
  readonly refreshMs: number;
  /** A list that cannot be made again is no longer served. */
  readonly expireMs: number;
  /** A list that knows nothing of the newest items takes them in. */
  readonly arrivalMs: number;
}

export type Dated = Pick<UserList, 'userRow' | 'madeMs' | 'knowsMs'>;
/** A list as far as its freshness goes; an answer that is kept has times alone. */
export type Judged = Dated & Partial<Pick<UserList, 'generation' | 'basis'>>;

/**
 * The state of a list, best first: as of now; without the newest items; made long ago or by older models; made of older
 * feedback; made of feedback that may have been taken back since; too old to be served; made of feedback that was taken
 * back.
 */
export type Verdict = 'good' | 'arrivals' | 'old' | 'behind' | 'unknown' | 'expired' | 'wrong';

/** True for a list that may be served while another is made. */
export function isServable(verdict: Verdict): boolean {
  return verdict !== 'expired' && verdict !== 'wrong';
}

/** True for a list that may hold what was found by feedback which the user has taken back. */
export function isDoubtful(verdict: Verdict): boolean {
  return verdict === 'unknown' || verdict === 'wrong';
}

export interface FreshnessOptions {
  readonly clock: Clock;
  readonly ages: ListAges;
  /** Lists made before are of another configuration and not served, milliseconds since the epoch. */
  readonly validSinceMs: number;
  /** Time when an item last became listable, milliseconds since the epoch. */
  readonly arrivedMs: () => number;
  /** Time when so much was last liked that lists may be others; likewise. */
  readonly movedMs?: () => number;
  /** Number of the generation that serves, 0 for none. */
  readonly generation: () => number;
  /** Tells feedback that takes or loses effect as time passes. */
  readonly effects: Pick<ListMaker, 'hasNews' | 'hasExpired'>;
  /** Tells the basis of lists, where other nodes write to the data or make lists, too. */
  readonly versions?: ListVersions | undefined;
}

/** Decides whether a list is good, old or wrong. A user whose list nobody asks for costs two bits. */
export class Freshness {
  /** Users of whom no list could be made. */
  readonly fruitless: FruitlessAttempts;
  private readonly options: FreshnessOptions;
  /** Users with feedback since their list was made. */
  private readonly dirty = new UserBits();
  /** Users who took feedback back since then: what was found by it must not live on. */
  private readonly retracted = new UserBits();
  /** Users whose feedback changed since their block of a pass began. */
  private readonly changed = new UserBits();
  /** Lists made before are stale: what changed since is not known. */
  private unknownUntilMs = Number.NEGATIVE_INFINITY;
  /** Time when the last pass that is over began, milliseconds since the epoch. */
  private passedMs = Number.NEGATIVE_INFINITY;
  /** Time when an item last became listable before the service was started. */
  private arrivedBeforeMs = Number.NEGATIVE_INFINITY;
  /** The generation seen last, and since when. */
  private generation = 0;
  private generationMs = Number.NEGATIVE_INFINITY;
  /** The times that lists are compared with, as the clock tells them now. */
  private readonly marks = {
    valid: new TimeMark(),
    unknown: new TimeMark(),
    passed: new TimeMark(),
    generation: new TimeMark(),
    moved: new TimeMark(),
    arrived: new TimeMark(),
  };

  constructor(options: FreshnessOptions) {
    this.options = options;
    const { clock, ages, generation } = options;
    this.fruitless = new FruitlessAttempts(clock, ages.arrivalMs, generation);
  }

  /** True where lists say what they were made from. */
  get isVersioned(): boolean {
    return this.options.versions !== undefined;
  }

  /** Users with feedback since their list was made. */
  get dirtyCount(): number {
    return this.dirty.count;
  }

  /**
   * The one answer about a list.
   * @param history of the list's user; without it feedback is judged by the marks of commits alone
   */
  of(list: Judged, history?: History, nowMs = this.options.clock()): Verdict {
    const { userRow, madeMs } = list;
    const { versions, effects, ages } = this.options;
    const isExpired = nowMs - madeMs > ages.expireMs;
    if (history === undefined) return this.byMarks(list, nowMs, isExpired);
    const madeUntilMs = history.untilMs - (nowMs - madeMs);
    if (effects.hasExpired(history, madeUntilMs)) this.markDirty(userRow, true);
    else if (versions?.isOf(history, list.basis)) this.markMade(userRow);
    const verdict =
      versions === undefined
        ? this.byMarks(list, nowMs, isExpired)
        : this.byBasis(list, history, nowMs, isExpired);
    if ((verdict !== 'good' && verdict !== 'arrivals') || !effects.hasNews(history, madeUntilMs))
      return verdict;
    this.markDirty(userRow);
    return 'behind';
  }

  /** True for a list made with the settings of today. */
  isOfToday({ madeMs, basis }: Judged): boolean {
    const { versions, validSinceMs } = this.options;
    if (versions !== undefined) return basis?.settings === versions.settings;
    return madeMs >= this.marks.valid.asOf(validSinceMs, this.options.clock());
  }

  /**
   * The list with a time that tells the generation. Another node may have made it with this generation before that was
   * here, and kept answers tell by the time alone.
   */
  asOfGeneration(list: UserList): UserList {
    const sinceMs = this.marks.generation.asOf(this.generationMs, this.options.clock());
    return list.madeMs < sinceMs ? { ...list, madeMs: sinceMs } : list;
  }

  /** The basis of a list that is made of this history; none where this node alone knows what changes. */
  basisOf(history: History): Pick<UserList, 'basis'> {
    const { versions } = this.options;
    return versions === undefined ? {} : { basis: versions.basisOf(history) };
  }

  /** Learns which lists were stale when the service stopped. Without that, as after a crash, all lists of before are. */
  async restore(states: SavedStates): Promise<void> {
    this.unknownUntilMs = this.options.clock();
    // Other nodes may have written while this one was stopped.
    if (this.isVersioned) return;
    const saved = ((await states.getState(STALE_STATE)) ?? undefined) as StaleState | undefined;
    await states.putState(STALE_STATE, null);
    if (saved === undefined) return;
    this.dirty.restore(saved.dirty);
    if (saved.retracted !== undefined) this.retracted.restore(saved.retracted);
    this.arrivedBeforeMs = saved.arrivedMs;
    this.unknownUntilMs = saved.unknownUntilMs;
  }

  async save(states: SavedStates): Promise<void> {
    if (this.isVersioned) return;
    await states.putState(STALE_STATE, {
      dirty: this.dirty.bytes,
      retracted: this.retracted.bytes,
      arrivedMs: this.arrivedMs,
      unknownUntilMs: this.unknownUntilMs,
    } satisfies StaleState);
  }

  /** The user's feedback changed. @param retracted whether some was taken back */
  markDirty(userRow: number, retracted = false): void {
    this.dirty.add(userRow);
    this.changed.add(userRow);
    if (retracted) this.retracted.add(userRow);
  }

  /** The user's list was made as of now. */
  markMade(userRow: number): void {
    this.dirty.delete(userRow);
    this.retracted.delete(userRow);
  }

  /** A block of a pass begins: it may not see feedback of these users that comes from now on. */
  beginBlock(userRows: ArrayLike<number>): void {
    for (let at = 0; at < userRows.length; at++) this.changed.delete(userRows[at]!);
  }

  /** True when the user's feedback has changed since that block began. */
  hasChanged(userRow: number): boolean {
    return this.changed.has(userRow);
  }

  /** A pass that began then is over: a list made before is of somebody whom it left out, and old. */
  endPass(beganMs: number): void {
    if (!this.isVersioned) this.passedMs = beganMs;
  }

  /** True when the user has feedback of after its list was made. */
  isDirty(userRow: number): boolean {
    return this.dirty.has(userRow);
  }

  /** True when the user took feedback back since its list was made. */
  hasRetracted(userRow: number): boolean {
    return this.retracted.has(userRow);
  }

  private byMarks(list: Judged, nowMs: number, isExpired: boolean): Verdict {
    const { userRow, madeMs } = list;
    if (this.isVersioned) {
      this.noteGeneration();
      // Answers that are kept are forgotten with the commit that changes the user's feedback.
      const sinceMs = this.marks.generation.asOf(this.generationMs, nowMs);
      return madeMs < sinceMs ? 'old' : this.byAge(list, nowMs, isExpired);
    }
    if (this.retracted.has(userRow)) return 'wrong';
    if (isExpired) return 'expired';
    if (madeMs < this.marks.unknown.asOf(this.unknownUntilMs, nowMs)) return 'unknown';
    if (this.dirty.has(userRow) || !this.isOfToday(list)) return 'behind';
    const passedMs = this.marks.passed.asOf(this.passedMs, nowMs);
    return madeMs < passedMs ? 'old' : this.byAge(list, nowMs, isExpired);
  }

  private byBasis(list: Judged, history: History, nowMs: number, isExpired: boolean): Verdict {
    if (this.retracted.has(list.userRow)) return 'wrong';
    if (isExpired) return 'expired';
    if (!this.options.versions!.isOf(history, list.basis)) return 'unknown';
    this.noteGeneration();
    return list.generation === this.generation ? this.byAge(list, nowMs, isExpired) : 'old';
  }

  private byAge({ madeMs, knowsMs }: Dated, nowMs: number, isExpired: boolean): Verdict {
    const { refreshMs, arrivalMs } = this.options.ages;
    if (isExpired) return 'expired';
    // One from ahead was made before the clock was set back, and would be good until that comes again.
    if (Math.abs(nowMs - madeMs) > refreshMs) return 'old';
    const movedMs = this.marks.moved.asOf(this.options.movedMs?.() ?? Number.NEGATIVE_INFINITY, nowMs);
    if (movedMs >= madeMs && nowMs - madeMs > SETTLED_MS) return 'old';
    const arrivedMs = this.marks.arrived.asOf(this.arrivedMs, nowMs);
    return nowMs - knowsMs > arrivalMs && knowsMs <= arrivedMs ? 'arrivals' : 'good';
  }

  private get arrivedMs(): number {
    return Math.max(this.arrivedBeforeMs, this.options.arrivedMs());
  }

  private noteGeneration(): void {
    const number = this.options.generation();
    if (number === this.generation) return;
    this.generation = number;
    this.generationMs = this.options.clock();
  }
}
