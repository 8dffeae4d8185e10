import { getOrPut } from '../../domain/get-or-put.ts';
import type { ShownToUser } from '../../store/shown-log.ts';
import type { Lesson } from './shown-lessons.ts';

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
 * Learns by how much less an item is clicked on that a user has seen before without feedback, out of the log of impressions and of
 * feedback that names its list.
 */
export class Rotation {
  private factors: ReadonlyMap<string, readonly number[] | undefined> = new Map();

  /** Factors by the number of times that an item was passed over here, as they are known now; undefined while too little is known. */
  of(placement: string): readonly number[] | undefined {
    return this.factors.get(placement);
  }

  learn(): Lesson {
    const tables = new Map<string, Table>();
    return {
      note: (user) => noteUser(user, tables),
      end: () => {
        this.factors = new Map(Array.from(tables, ([placement, { factors }]) => [placement, factors]));
      },
    };
  }
}

function* noteUser({ records }: ShownToUser, tables: Map<string, Table>): Generator<undefined, void> {
  const named = new Set<string>();
  for (const { list, itemRows, feedbackType } of records)
    if (feedbackType !== undefined) named.add(`${list.placement} ${list.timeMs} ${itemRows[0]}`);
  const lists = new Map<string, Set<number>>();
  for (const { list, itemRows, places, feedbackType } of records) {
    yield;
    if (feedbackType !== undefined) continue;
    const table = getOrPut(tables, list.placement, () => new Table());
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
