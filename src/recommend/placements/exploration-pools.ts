import type { Clock } from '../../domain/clock.ts';
import { hashText } from '../../domain/hash.ts';
import { createRandom, type Random } from '../../domain/random.ts';
import { atOnce, inTurns } from '../../platform/concurrency/event-loop-turns.ts';
import type { ShownRecord } from '../../store/shown-log.ts';
import type { PoolEntry } from './explored-list.ts';
import type { Lesson } from './shown-lessons.ts';

/** Items that a placement learns of at a time. */
const POOL_MAX = 64;
/** Times that an item is seen here until enough is known of it. */
const SEEN_MAX = 100;
/** Newest items that are looked at for a place in the pool, and others. */
const NEWEST = 500;
const OTHERS = 2000;
/** Time after which the chances are worked out anew, milliseconds. */
const FRESH_MS = 60_000;
/** Draws from which the chance to be the best is counted. */
const DRAWS = 400;
/** Part of the pool's share that all its items have in common, so that none has next to no chance. */
const COMMON_SHARE = 0.2;
/** A new item is taken to be as good as all that are shown here, as if that had been seen so often. */
const PRIOR_SEEN = 20;
/** Most that a count tells. */
const COUNT_MAX = 0xffff;

interface Counts {
  /** By row: times seen, and times with feedback that named its list. */
  seen: Uint16Array;
  clicked: Uint16Array;
  allSeen: number;
  allClicked: number;
}

interface Pool {
  readonly entries: readonly PoolEntry[];
  readonly madeMs: number;
}

export interface PoolParts {
  /** Placements that explore. */
  readonly explored: () => readonly string[];
  readonly clock: Clock;
  readonly rowCount: () => number;
  /** Types of feedback that say that an item was seen, and nothing more. */
  readonly readTypes: ReadonlySet<string>;
  readonly onTrouble: (message: string, error: unknown) => void;
}

/**
 * Items that placements have shown little, and with which share each is to be tried: Thompson sampling (Thompson 1933), the share of an
 * item being its chance to have the highest click rate of all, as far as is known. The chances are counted out now and then and hold
 * until then, so that the chance with which an item was shown is known exactly.
 */
export class ExplorationPools {
  private readonly parts: PoolParts;
  private counts: ReadonlyMap<string, Counts> = new Map();
  /** Counts of a walk through the log that is not at its end, perhaps. */
  private learned = this.counts;
  private readonly pools = new Map<string, Pool>();
  private readonly making = new Set<string>();

  constructor(parts: PoolParts) {
    this.parts = parts;
  }

  /**
   * The pool of a placement as it was a minute ago, or when somebody asked last; undefined before what was shown is counted.
   * @param accept false for a row that the placement never shows; undefined where the pool is none of its own
   */
  of(placement: string, accept: ((row: number) => boolean) | undefined): readonly PoolEntry[] | undefined {
    const pool = this.pools.get(placement);
    const isFresh = pool !== undefined && Math.abs(this.parts.clock() - pool.madeMs) <= FRESH_MS;
    const counts = this.counts.get(placement);
    if (!isFresh && counts !== undefined && accept !== undefined && !this.making.has(placement)) {
      this.making.add(placement);
      // Where it cannot be made, the last one holds, and whoever asks next tries again.
      this.make(placement, counts, accept)
        .catch((error: unknown) =>
          this.parts.onTrouble(`items that "${placement}" explores could not be chosen`, error),
        )
        .finally(() => this.making.delete(placement));
    }
    return pool?.entries;
  }

  /** True once it is counted what the placement has shown. */
  knows(placement: string): boolean {
    return this.counts.has(placement);
  }

  /** Counts what was stored just now. */
  note(records: readonly ShownRecord[]): void {
    for (const counts of new Set([this.counts, this.learned])) atOnce(this.countAll(records, counts));
  }

  /** Counts what the log has; what is stored meanwhile may count twice. */
  learn(): Lesson {
    const none = { allSeen: 0, allClicked: 0 };
    const noneOf = () => ({ seen: new Uint16Array(), clicked: new Uint16Array(), ...none });
    const counts = new Map<string, Counts>(this.parts.explored().map((name) => [name, noneOf()]));
    this.learned = counts;
    return {
      note: ({ records }) => this.countAll(records, counts),
      end: () => {
        this.counts = counts;
        for (const name of this.pools.keys()) if (!counts.has(name)) this.pools.delete(name);
      },
    };
  }

  private async make(placement: string, counts: Counts, accept: (row: number) => boolean): Promise<void> {
    const nowMs = this.parts.clock();
    const rowCount = this.parts.rowCount();
    const isLittle = (row: number) => (counts.seen[row] ?? 0) < SEEN_MAX && accept(row);
    const random = createRandom(hashText(`${placement}\n${nowMs}`));
    const kept = (this.pools.get(placement)?.entries ?? []).map(({ row }) => row).filter(isLittle);
    const rows = rowsToTry(kept, isLittle, rowCount, random);
    this.pools.set(placement, { entries: await inTurns(sharesOf(rows, counts, random)), madeMs: nowMs });
  }

  private *countAll(
    records: readonly ShownRecord[],
    counts: ReadonlyMap<string, Counts>,
  ): Generator<undefined, void> {
    for (const record of records) {
      const own = counts.get(record.list.placement);
      if (own !== undefined) this.count(own, record);
      yield;
    }
  }

  private count(counts: Counts, { itemRows, feedbackType }: ShownRecord): void {
    if (feedbackType !== undefined && this.parts.readTypes.has(feedbackType)) return;
    for (const row of itemRows) {
      if (row >= counts.seen.length) grow(counts, Math.max(row + 1, this.parts.rowCount()));
      const of = feedbackType === undefined ? counts.seen : counts.clicked;
      of[row] = Math.min(COUNT_MAX, of[row]! + 1);
    }
    if (feedbackType === undefined) counts.allSeen += itemRows.length;
    else counts.allClicked += itemRows.length;
  }
}

function grow(counts: Counts, length: number): void {
  for (const name of ['seen', 'clicked'] as const) {
    const longer = new Uint16Array(length);
    longer.set(counts[name]);
    counts[name] = longer;
  }
}

/** Items that were tried before, then the newest for up to half of the pool, then any. */
function rowsToTry(
  kept: readonly number[],
  isLittle: (row: number) => boolean,
  rowCount: number,
  random: Random,
): number[] {
  const rows = new Set(kept);
  const take = (row: number, most: number) => {
    if (rows.size < most && isLittle(row)) rows.add(row);
  };
  for (let row = rowCount - 1; row >= Math.max(0, rowCount - NEWEST); row--)
    take(row, Math.max(kept.length, POOL_MAX / 2));
  for (let other = 0; other < OTHERS && rowCount > 0; other++) take(random.below(rowCount), POOL_MAX);
  return [...rows].slice(0, POOL_MAX);
}

/** The share of each: how often its draw is the highest, and a part that all have. Pauses now and then. */
function* sharesOf(
  rows: readonly number[],
  counts: Counts,
  random: Random,
): Generator<undefined, PoolEntry[]> {
  // Clicks may come of what nobody said was seen.
  const rate = Math.min(0.5, (counts.allClicked + 1) / (counts.allSeen + PRIOR_SEEN));
  const wins = rows.map(() => 0);
  for (let draw = 0; draw < DRAWS; draw++) {
    yield;
    let best = 0;
    let highest = -1;
    for (const [at, row] of rows.entries()) {
      const [seen, clicked] = [counts.seen[row] ?? 0, counts.clicked[row] ?? 0];
      const [hits, misses] = [
        PRIOR_SEEN * rate + clicked,
        PRIOR_SEEN * (1 - rate) + Math.max(0, seen - clicked),
      ];
      const value = beta(random, hits, misses);
      if (value > highest) [best, highest] = [at, value];
    }
    wins[best]!++;
  }
  return rows.map((row, at) => ({
    row,
    share: COMMON_SHARE / rows.length + ((1 - COMMON_SHARE) * wins[at]!) / DRAWS,
  }));
}

/** A beta deviate: of two gamma deviates the part of the first. */
function beta(random: Random, a: number, b: number): number {
  const [x, y] = [gamma(random, a), gamma(random, b)];
  return x + y > 0 ? x / (x + y) : 0;
}

/** A gamma deviate of scale 1 (Marsaglia and Tsang 2000); for shapes below 1 as they say there. */
function gamma(random: Random, shape: number): number {
  if (shape < 1) return gamma(random, shape + 1) * random.float() ** (1 / shape);
  const d = shape - 1 / 3;
  for (;;) {
    const x = random.normal();
    const v = (1 + x / Math.sqrt(9 * d)) ** 3;
    if (v > 0 && Math.log(1 - random.float()) < 0.5 * x * x + d * (1 - v + Math.log(v))) return d * v;
  }
}
