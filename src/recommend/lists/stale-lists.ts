import type { Clock } from '../../domain/clock.ts';
import type { SavedStates, UserList } from '../../store/cache-store.ts';
import { UserBits } from '../rows/user-bits.ts';
import { forgetSeen } from './active-users.ts';

/** Name of the state that tells which lists were stale when the service stopped. */
const STALE_STATE = 'lists-behind';

/**
 * To be called after the data was written to by something else than a running service: every list made before counts as
 * stale at the next start.
 */
export async function forgetStaleLists(states: SavedStates): Promise<void> {
  await states.putState(STALE_STATE, null);
  await forgetSeen(states);
}

/** What of the lists' freshness is in memory alone. */
interface StaleState {
  readonly dirty: Uint8Array;
  readonly retracted?: Uint8Array;
  readonly arrivedMs: number;
  readonly unknownUntilMs: number;
}

/** Ages of a list, milliseconds. */
export interface ListAges {
  /** A list is made again without new feedback. */
  readonly refreshMs: number;
  /** A list that cannot be made again is no longer served. */
  readonly expireMs: number;
  /** A list that knows nothing of the newest items takes them in. */
  readonly arrivalMs: number;
}

/** What tells how fresh a list is. */
export type Dated = Pick<UserList, 'userRow' | 'madeMs' | 'knowsMs'>;

/**
 * What a list lacks: nothing; the newest items; whatever comes with age; or the user's last feedback, which it is made
 * again for before it is served.
 */
export type Lack = 'nothing' | 'arrivals' | 'age' | 'feedback';

/** Knows whose list is stale. A user whose list nobody asks for costs two bits. */
export class StaleLists {
  private readonly options: {
    readonly clock: Clock;
    readonly ages: ListAges;
    /** Lists made before are of another configuration and not served, milliseconds since the epoch. */
    readonly validSinceMs: number;
    /** When an item last became listable, milliseconds since the epoch. */
    readonly arrivedMs: () => number;
  };

  /** Users with feedback since their list was made. */
  private readonly dirty = new UserBits();
  /** Those who took feedback back: what was found by it must not live on. */
  private readonly retracted = new UserBits();
  /** Users whose feedback changed since their block of a pass began. */
  private readonly changed = new UserBits();
  /** Lists made before are stale: what changed since is not known. */
  private unknownUntilMs = Number.NEGATIVE_INFINITY;
  /** When the last pass that is over began, milliseconds since the epoch. */
  private passedMs = Number.NEGATIVE_INFINITY;
  /** When an item last became listable before the service was started. */
  private arrivedBeforeMs = Number.NEGATIVE_INFINITY;

  constructor(options: StaleLists['options']) {
    this.options = options;
  }

  /**
   * Learns which lists were stale when the service stopped. After a crash nobody knows: then all of them are, and each
   * is made again when it is asked for.
   */
  async restore(states: SavedStates): Promise<void> {
    const saved = ((await states.getState(STALE_STATE)) ?? undefined) as StaleState | undefined;
    await states.putState(STALE_STATE, null);
    if (saved === undefined) {
      this.unknownUntilMs = this.options.clock();
      return;
    }
    this.dirty.restore(saved.dirty);
    if (saved.retracted !== undefined) this.retracted.restore(saved.retracted);
    this.arrivedBeforeMs = saved.arrivedMs;
    this.unknownUntilMs = saved.unknownUntilMs;
  }

  /** What changed before now is not known: other nodes may have written while this one was stopped. */
  forget(): void {
    this.unknownUntilMs = this.options.clock();
  }

  async save(states: SavedStates): Promise<void> {
    await states.putState(STALE_STATE, {
      dirty: this.dirty.bytes,
      retracted: this.retracted.bytes,
      arrivedMs: Math.max(this.arrivedBeforeMs, this.options.arrivedMs()),
      unknownUntilMs: this.unknownUntilMs,
    } satisfies StaleState);
  }

  /** See `ListAges`. */
  get arrivalMs(): number {
    return this.options.ages.arrivalMs;
  }

  /** Users with feedback since their list was made. */
  get dirtyCount(): number {
    return this.dirty.count;
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

  /** A pass that began then is over: a list made before is of somebody whom it left out, and stale. */
  endPass(beganMs: number): void {
    this.passedMs = beganMs;
  }

  /** True for a list made with the settings of today. */
  isValid({ madeMs }: Dated): boolean {
    return madeMs >= this.options.validSinceMs;
  }

  /** True when a list that cannot be made again is too old to be served. */
  isExpired({ madeMs }: Dated): boolean {
    return this.options.clock() - madeMs > this.options.ages.expireMs;
  }

  /** True when the user has feedback of after its list was made. */
  isDirty(userRow: number): boolean {
    return this.dirty.has(userRow);
  }

  /** True when the user took feedback back since its list was made. */
  hasRetracted(userRow: number): boolean {
    return this.retracted.has(userRow);
  }

  /** The same, or that is not known. */
  isRetracted({ userRow, madeMs }: Dated): boolean {
    return this.retracted.has(userRow) || madeMs < this.unknownUntilMs;
  }

  lackOf(list: Dated, nowMs = this.options.clock()): Lack {
    const { userRow, madeMs } = list;
    if (madeMs < this.options.validSinceMs || madeMs < this.unknownUntilMs || this.dirty.has(userRow))
      return 'feedback';
    return madeMs < this.passedMs ? 'age' : this.lackByAge(list, nowMs);
  }

  /** What a list lacks of which it is known that it is of the user's feedback and the generation as they are now. */
  lackByAge({ madeMs, knowsMs }: Dated, nowMs = this.options.clock()): Lack {
    const { refreshMs, expireMs, arrivalMs } = this.options.ages;
    if (nowMs - madeMs > Math.min(refreshMs, expireMs)) return 'age';
    const arrivedMs = Math.max(this.arrivedBeforeMs, this.options.arrivedMs());
    return nowMs - knowsMs > arrivalMs && knowsMs <= arrivedMs ? 'arrivals' : 'nothing';
  }
}
