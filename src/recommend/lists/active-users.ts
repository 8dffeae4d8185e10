import type { Clock } from '../../domain/clock.ts';
import { getOrPut } from '../../domain/get-or-put.ts';
import type { SavedStates } from '../../store/cache-store.ts';
import { UserBits } from '../rows/user-bits.ts';

/** Name of the state that tells who was seen when. */
const SEEN_STATE = 'users-seen';
/** The time to live is parted into so many periods; who was seen is forgotten at most one period late. */
const PERIODS = 8;

/** The state that is kept over a restart. */
interface SeenState {
  readonly ttlMs: number;
  /** Rows from here on came after it was saved. */
  readonly userCount: number;
  readonly periods: readonly (readonly [number: number, bits: Uint8Array])[];
}

/** To be called after the data was written to by something else than a running service: everybody counts as seen. */
export async function forgetSeen(states: SavedStates): Promise<void> {
  await states.putState(SEEN_STATE, null);
}

/** Where a pass over the active users stands: users of later periods come first, and within a period lower rows. */
export interface PassPosition {
  readonly period: number;
  readonly userRow: number;
}

/**
 * The users seen lately: one bit a user and period. Without a time to live everybody is active, and nothing is kept.
 */
export class ActiveUsers {
  private readonly ttlMs: number;
  private readonly clock: Clock;
  /** By number of the period. */
  private readonly periods = new Map<number, UserBits>();
  private current = new UserBits();
  /** Time when the present period ends, milliseconds since the epoch. */
  private endMs = Number.NEGATIVE_INFINITY;

  /** @param ttlMs a user who was not seen for so long is no longer active; 0 for never */
  constructor(ttlMs: number, clock: Clock) {
    this.ttlMs = ttlMs;
    this.clock = clock;
  }

  /** The user asks, or has feedback. */
  note(userRow: number): void {
    if (userRow >= 0) this.noteAll([userRow]);
  }

  /** The same of several at once. */
  noteAll(userRows: ArrayLike<number>): void {
    if (this.ttlMs === 0) return;
    const nowMs = this.clock();
    // Also once the clock was set back.
    if (nowMs >= this.endMs || nowMs < this.endMs - this.periodMs) this.moveOn();
    for (let at = 0; at < userRows.length; at++) this.current.add(userRows[at]!);
  }

  /**
   * Learns who was seen before a restart. Of whom that is not known, as after a crash or an import, counts as seen now.
   * @param userCount one more than the highest row ever given
   */
  async restore(states: SavedStates, userCount: number): Promise<void> {
    if (this.ttlMs === 0) return;
    const saved = ((await states.getState(SEEN_STATE)) ?? undefined) as SeenState | undefined;
    this.moveOn();
    if (saved?.ttlMs === this.ttlMs) {
      for (const [number, bytes] of saved.periods) {
        const bits = new UserBits();
        bits.restore(bytes);
        this.periods.set(number, bits);
      }
      this.current = this.periodBits(this.periodNow);
      for (let row = saved.userCount; row < userCount; row++) this.current.add(row);
    } else this.current.addBelow(userCount);
  }

  /** @param userCount one more than the highest row ever given */
  async save(states: SavedStates, userCount: number): Promise<void> {
    if (this.ttlMs === 0) return;
    this.moveOn();
    const periods = [...this.periods].map(([number, bits]) => [number, bits.bytes] as const);
    await states.putState(SEEN_STATE, { ttlMs: this.ttlMs, userCount, periods } satisfies SeenState);
  }

  /** The users active at the moment among the first `userCount` rows, in the order of a pass. Does not change any more. */
  order(userCount: number): PassOrder {
    if (this.ttlMs === 0) {
      const all = new UserBits();
      all.addBelow(userCount);
      return new PassOrder(new Map([[0, all]]), userCount);
    }
    this.moveOn();
    const copies = [...this.periods].map(([number, bits]) => {
      const copy = new UserBits();
      copy.restore(bits.bytes);
      return [number, copy] as const;
    });
    return new PassOrder(new Map(copies), userCount);
  }

  private get periodMs(): number {
    return this.ttlMs / (PERIODS - 1);
  }

  private get periodNow(): number {
    return Math.floor(this.clock() / this.periodMs);
  }

  /** Begins the present period and forgets those that are over, and those of a clock that ran ahead. */
  private moveOn(): void {
    const now = this.periodNow;
    this.endMs = (now + 1) * this.periodMs;
    this.current = this.periodBits(now);
    for (const number of this.periods.keys())
      if (number <= now - PERIODS || number > now) this.periods.delete(number);
  }

  private periodBits(number: number): UserBits {
    return getOrPut(this.periods, number, () => new UserBits());
  }
}

/** The users of one pass: those seen last come first, each once. */
export class PassOrder {
  /** Latest first, each without the users of later ones. */
  private readonly periods: (readonly [number: number, bits: UserBits])[] = [];
  private readonly userCount: number;

  /** @param seen users by number of the period; taken over */
  constructor(seen: ReadonlyMap<number, UserBits>, userCount: number) {
    this.userCount = userCount;
    const later = new UserBits();
    for (const [number, bits] of [...seen].sort(([a], [b]) => b - a)) {
      bits.subtract(later);
      later.addAll(bits);
      this.periods.push([number, bits]);
    }
  }

  get first(): PassPosition {
    return { period: this.periods[0]?.[0] ?? 0, userRow: 0 };
  }

  /** Users from a position on. */
  countFrom({ period, userRow }: PassPosition): number {
    let count = 0;
    for (const [number, bits] of this.periods)
      if (number <= period) count += bits.countIn(number === period ? userRow : 0, this.userCount);
    return count;
  }

  /** The next `limit` users from a position on, in the order of their rows, and where to go on; undefined at the end. */
  take(from: PassPosition, limit: number): { userRows: Uint32Array; next: PassPosition } | undefined {
    for (const [number, bits] of this.periods) {
      if (number > from.period) continue;
      const first = number === from.period ? from.userRow : 0;
      const userRows = bits.rowsIn(first, this.userCount, limit);
      if (userRows.length > 0) return { userRows, next: { period: number, userRow: userRows.at(-1)! + 1 } };
    }
    return undefined;
  }
}
