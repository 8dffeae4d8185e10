import type { Config } from '../config/config.ts';
import { parseTimestamp } from '../domain/rfc3339.ts';
import { editionOf } from '../recommend/placements/experiment-split.ts';
import type { GivenFeedback, Outcome, SeenList } from './attribution.ts';
import type { ArmSums } from './statistics/arm-sums.ts';
import type { Comparison } from './statistics/compare-arms.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Time before a user took part whose feedback tells what would come anyway, milliseconds. */
const PAST_MS = 28 * DAY_MS;

type Settings = Config['experiment'][string];

/** Counts of an experiment, and the users it has met. */
export class Counting {
  readonly settings: Settings;
  readonly nowMs: number;
  /** Users who saw several variants. */
  mixed = 0;
  private readonly startMs: number;
  private readonly edition: string;
  private firstMs = Number.POSITIVE_INFINITY;
  private seen = 0;

  constructor(name: string, settings: Settings, nowMs: number) {
    this.settings = settings;
    this.nowMs = nowMs;
    this.startMs = settings.start === '' ? Number.NEGATIVE_INFINITY : parseTimestamp(settings.start);
    this.edition = editionOf(name, settings);
  }

  /** A user who takes part; undefined for one who does not, or who saw another variant meanwhile. @param lists all that the user saw */
  take(lists: readonly SeenList[]): CountedUser | undefined {
    const { placement } = this.settings;
    const all = lists.filter((list) => list.placement === placement && list.timeMs >= this.startMs);
    const shown = all.filter(({ edition }) => edition === this.edition);
    if (shown.length === 0) return undefined;
    const user = new CountedUser(this, shown);
    const { variant, firstMs, untilMs } = user;
    const isOther = (list: SeenList) =>
      list.variant !== '' && list.variant !== variant && list.timeMs >= firstMs && list.timeMs <= untilMs;
    if (all.some(isOther)) {
      this.mixed++;
      return undefined;
    }
    this.firstMs = Math.min(this.firstMs, firstMs);
    this.seen++;
    return user;
  }

  /** The same user by lists of the placement that are not of the experiment; undefined for none. */
  before(lists: readonly SeenList[]): CountedUser | undefined {
    const { placement } = this.settings;
    const own = lists.filter((list) => list.placement === placement && list.edition !== this.edition);
    return own.length === 0 ? undefined : new CountedUser(this, own);
  }

  get usersADay(): number {
    return this.perDay(this.seen, this.firstMs);
  }

  /** Users a day, of so many since a time. */
  perDay(users: number, sinceMs: number): number {
    return users / Math.max(1, (this.nowMs - sinceMs) / DAY_MS);
  }
}

/** A user of an experiment, who counts once `horizon_hours` since the first list are over. */
export class CountedUser {
  /** Lists of the experiment until the user counts, at least one: what came of later ones is not looked at. */
  readonly shown: readonly SeenList[];
  readonly variant: string;
  readonly firstMs: number;
  readonly untilMs: number;
  private readonly counting: Counting;

  constructor(counting: Counting, shown: readonly SeenList[]) {
    this.counting = counting;
    this.variant = shown[0]!.variant;
    // As of the answer: what is told to be seen after a click would make the click a thing of the past.
    this.firstMs = shown.reduce((first, { timeMs }) => Math.min(first, timeMs), Number.POSITIVE_INFINITY);
    this.untilMs = this.firstMs + counting.settings.horizon_hours * HOUR_MS;
    this.shown = shown.filter(({ timeMs }) => timeMs <= this.untilMs);
  }

  get isOver(): boolean {
    return this.counting.nowMs >= this.untilMs;
  }

  /** Feedback of lists that counts. */
  cameOf(lists: readonly SeenList[]): Outcome[] {
    return lists
      .flatMap(({ outcomes }) => outcomes)
      .filter((each) => each.timeMs <= this.untilMs && this.decides(each));
  }

  /** Adds what counts of the user, beside how often it was before. */
  addTo(sums: ArmSums, feedback: readonly GivenFeedback[], values: ReadonlyMap<Outcome, number>): void {
    const past = feedback.filter((each) => this.isPast(each) && this.decides(each)).length;
    sums.add(this.worth(this.cameOf(this.shown), values), past);
  }

  isIn({ timeMs }: GivenFeedback): boolean {
    return timeMs >= this.firstMs && timeMs <= this.untilMs;
  }

  isPast({ timeMs }: GivenFeedback): boolean {
    return timeMs < this.firstMs && timeMs >= this.firstMs - PAST_MS;
  }

  private decides({ type, kind }: GivenFeedback): boolean {
    const { measure } = this.counting.settings;
    return measure === '' || measure === kind || measure === type;
  }

  /** Number that all of this counts for: 1 for any, how often it is, or the sum of its values. */
  worth(came: readonly Outcome[], values: ReadonlyMap<Outcome, number>): number {
    switch (this.counting.settings.counts) {
      case 'users':
        return Number(came.length > 0);
      case 'feedback':
        return came.length;
      case 'value':
        return came.reduce((sum, each) => sum + (values.get(each) ?? 0), 0);
    }
  }
}

/** The interval of a comparison as it is told; without ends while there is too little to say anything. */
export function intervalOf({ difference, halfWidth }: Comparison): {
  Difference: number;
  Low?: number;
  High?: number;
} {
  if (!Number.isFinite(halfWidth)) return { Difference: difference };
  return { Difference: difference, Low: difference - halfWidth, High: difference + halfWidth };
}
