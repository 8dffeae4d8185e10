import type { Clock } from '../../domain/clock.ts';
import type { ShownLog, ShownToUser } from '../../store/shown-log.ts';

/** Times that an item was passed over which are told apart; more count as so many. */
const TIMES_MAX = 8;
/** Places whose rates are told apart. */
const PLACES_MAX = 50;
/** Clicks on items seen for the first time, and items seen for a further time, from which on something is learned. */
const CLICKS_MIN = 100;
const SEEN_MIN = 500;
/** Clicks as at the first time that each further time is taken to have had beside its own. */
const PRIOR_CLICKS = 10;
/** No item sinks below this part of its score. */
const FACTOR_MIN = 0.05;
const FRESH_MS = 3_600_000;

/** Items seen at a place after so many times before without feedback, and clicks on them. */
class Table {
  readonly seen = Array.from({ length: TIMES_MAX + 1 }, () => new Float64Array(PLACES_MAX + 1));
  readonly clicked = new Float64Array(TIMES_MAX + 1);
  private readonly clickedAt = new Float64Array(PLACES_MAX + 1);

  note(times: number, place: number, isClicked: boolean): void {
    const at = Math.min(PLACES_MAX, place);
    this.seen[times]![at]!++;
    if (!isClicked) return;
    this.clicked[times]!++;
    this.clickedAt[at]!++;
  }

  /**
   * Click rate after each number of times before, as part of that at the first time, and never above the one before. Places are taken
   * out: what is shown again stands high, and so would be clicked on more.
   * @returns undefined while too little is known
   */
  get factors(): readonly number[] | undefined {
    const rates = this.clickedAt.map((clicks, at) => clicks / Math.max(1, sumOf(this.seen, at)));
    const expected = this.seen.map((seen) => seen.reduce((sum, count, at) => sum + count * rates[at]!, 0));
    if (this.clicked[0]! < CLICKS_MIN) return undefined;
    const first = this.clicked[0]! / expected[0]!;
    const factors = [1];
    for (let times = 1; times <= TIMES_MAX; times++) {
      const count = this.seen[times]!.reduce((sum, each) => sum + each, 0);
      const last = factors.at(-1)!;
      if (count < SEEN_MIN) {
        // Of so many times too little is known: as of the last that is known.
        factors.push(last);
        continue;
      }
      const own = (this.clicked[times]! + PRIOR_CLICKS) / (expected[times]! * first + PRIOR_CLICKS);
      factors.push(Math.max(FACTOR_MIN, Math.min(last, own)));
    }
    return this.seen[1]!.reduce((sum, each) => sum + each, 0) < SEEN_MIN ? undefined : factors;
  }
}

/**
 * Learns by how much less an item is clicked on that a user has seen before without feedback, out of the log of impressions. It is
 * learned once an hour at most, and of feedback that names its list.
 */
export class Rotation {
  private readonly log: Pick<ShownLog, 'walk'> | undefined;
  private readonly clock: Clock;
  private factors = new Map<string, readonly number[]>();
  private learnedMs = Number.NEGATIVE_INFINITY;
  private learning: Promise<void> | undefined;

  constructor(log: Pick<ShownLog, 'walk'> | undefined, clock: Clock) {
    this.log = log;
    this.clock = clock;
  }

  /** Factors by the number of times that an item was passed over here, as they are known now; undefined while too little is known. */
  of(placement: string): readonly number[] | undefined {
    if (this.log !== undefined && this.clock() - this.learnedMs > FRESH_MS)
      this.learning ??= this.learn(this.log).finally(() => {
        this.learning = undefined;
      });
    return this.factors.get(placement);
  }

  private async learn(log: Pick<ShownLog, 'walk'>): Promise<void> {
    const tables = new Map<string, Table>();
    try {
      for await (const users of log.walk()) for (const user of users) noteUser(user, tables);
    } catch {
      // The log cannot be read: what was learned before holds.
      return;
    } finally {
      this.learnedMs = this.clock();
    }
    this.factors = new Map(
      Array.from(tables, ([placement, { factors }]) => [placement, factors] as const).flatMap((entry) =>
        entry[1] === undefined ? [] : [[entry[0], entry[1]] as const],
      ),
    );
  }
}

function noteUser({ records }: ShownToUser, tables: Map<string, Table>): void {
  const named = new Set<string>();
  for (const { list, itemRows, feedbackType } of records)
    if (feedbackType !== undefined) named.add(`${list.placement} ${list.timeMs} ${itemRows[0]}`);
  const lists = new Map<string, Set<number>>();
  for (const { list, itemRows, places, feedbackType } of records) {
    if (feedbackType !== undefined) continue;
    const table = tables.get(list.placement) ?? new Table();
    tables.set(list.placement, table);
    for (const [at, row] of itemRows.entries()) {
      const key = `${list.placement} ${row}`;
      const before = lists.get(key) ?? new Set();
      // Told again of the same list.
      if (before.has(list.timeMs)) continue;
      const isClicked = named.has(`${list.placement} ${list.timeMs} ${row}`);
      table.note(Math.min(TIMES_MAX, before.size), places[at] ?? 1, isClicked);
      lists.set(key, isClicked ? new Set([list.timeMs]) : before.add(list.timeMs));
    }
  }
}

function sumOf(rows: readonly Float64Array[], at: number): number {
  return rows.reduce((sum, row) => sum + row[at]!, 0);
}
