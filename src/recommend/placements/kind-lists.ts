import type { Config } from '../../config/config.ts';
import { filterRanked, NOTHING, type Ranked } from '../../memory/ranked-rows.ts';
import { TopK } from '../../memory/top-k.ts';
import { inTurns } from '../../platform/concurrency/event-loop-turns.ts';
import { FeedbackColumns, type LocalReads } from '../../store/data-store.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { TypeTest } from '../history/counts-as-positive.ts';
import type { History } from '../history/history.ts';
import { isUnread } from '../history/read-items.ts';
import type { ItemNeighbors } from '../neighbors/item-neighbors.ts';
import type { PopularityCounts } from '../popularity/popularity-counts.ts';
import { POPULARITY_SCALES } from '../popularity/popularity-scales.ts';
import type { Caller, Sources } from '../sources/source.ts';
import { boughtTogether } from './basket-lists.ts';
import { DueRepeats } from './due-repeats.ts';
import { KeptForAWhile } from './kept-for-a-while.ts';

const HOUR_MS = 3_600_000;
/** Last likes of which one with items like it is looked for. */
const SEEDS_MAX = 5;
/** Items like one that are enough to show because of it. */
const ENOUGH = 3;
/** Items like one that are put into the user's order. */
const SIMILAR_MAX = 200;
/** The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009). */
const RANK_OFFSET = 60;
/** Items of which it is kept what is bought together with them, and for how long; likewise of what is trending, milliseconds. */
const BASKETS_MAX = 500;
const BASKETS_FRESH_MS = 600_000;
const TRENDING_FRESH_MS = 60_000;

export interface KindParts {
  readonly reads: LocalReads;
  readonly catalogue: Pick<Catalogue, 'isHidden'>;
  readonly sources: Sources;
  readonly itemNeighbors: Pick<ItemNeighbors, 'of'>;
  readonly popularity: PopularityCounts;
  readonly isPositive: TypeTest;
  /** The order in which the models would show rows to the user; those of which they know nothing are left out. */
  readonly ownOrder: (
    history: History,
    rows: readonly number[],
    caller?: Caller,
  ) => Promise<readonly number[]>;
}

/** A question to a placement of a kind. */
export interface KindAsk {
  readonly history: History;
  /** Row of the item that the page is about, -1 for one that nobody knows; undefined for none. */
  readonly itemRow: number | undefined;
  readonly k: number;
  /** Rows that may be shown, whether the user has read them or not. */
  readonly accept: (row: number) => boolean;
  readonly nowMs: number;
  readonly caller?: Caller | undefined;
}

export interface KindList extends Ranked {
  /** The item that the list goes by; absent for none. */
  readonly seedRow?: number;
}

/** Makes the lists of placements of other kinds than the user's own list. */
export class KindLists {
  private readonly parts: KindParts;
  private readonly baskets = new KeptForAWhile<string, Ranked>(BASKETS_FRESH_MS, BASKETS_MAX);
  private readonly trending = new KeptForAWhile<'', Ranked>(TRENDING_FRESH_MS, 1);
  private readonly repeats: DueRepeats;

  constructor(parts: KindParts) {
    this.parts = parts;
    this.repeats = new DueRepeats(parts.reads, parts.isPositive);
  }

  /** The list of a kind; undefined where it is the user's own that is asked for. */
  async list(settings: Config['placement'][string], ask: KindAsk): Promise<KindList | undefined> {
    const { reads, isPositive, popularity } = this.parts;
    const { history, k, nowMs } = ask;
    const likesOf = (row: number) => popularity.ever[row] ?? 0;
    const accept = (row: number) => ask.accept(row) && isUnread(history, row);
    const unread: KindAsk = { ...ask, accept };
    switch (settings.kind) {
      case 'because':
        return this.because(unread);
      case 'similar':
        return this.similar(unread);
      case 'together': {
        const seedRow = this.seedOf(ask);
        if (seedRow < 0) return NOTHING;
        const withinMs = settings.basket_hours * HOUR_MS;
        const list = await this.baskets.of(`${seedRow} ${withinMs}`, nowMs, () =>
          inTurns(boughtTogether({ reads, isPositive, likesOf }, seedRow, withinMs)),
        );
        return { ...filterRanked(list, k, accept), seedRow };
      }
      case 'trending':
        return filterRanked(await this.trending.of('', nowMs, () => inTurns(rising(popularity))), k, accept);
      case 'continue':
        return filterRanked(begunItems(reads, history.userRow, settings), k, ask.accept);
      case 'again':
        return filterRanked(await this.repeats.of(history, nowMs), k, ask.accept);
      default:
        return settings.recommenders.length > 0
          ? this.byRecommenders(settings.recommenders, unread)
          : undefined;
    }
  }

  private seedOf(ask: KindAsk): number {
    return this.seedsOf(ask)[0] ?? -1;
  }

  /** Items that a list may go by, and name. */
  private seedsOf({ history, itemRow }: KindAsk): number[] {
    if (itemRow !== undefined) return itemRow < 0 ? [] : [itemRow];
    const { catalogue, isPositive } = this.parts;
    return history.positiveRows(isPositive, SEEDS_MAX).filter((row) => !catalogue.isHidden(row));
  }

  /** Items like the last of the user's likes that has enough of them. */
  private async because(ask: KindAsk): Promise<KindList> {
    const { k, accept, caller } = ask;
    let best: KindList = NOTHING;
    for (const seedRow of this.seedsOf(ask)) {
      const list = await this.parts.itemNeighbors.of(seedRow, k, accept, caller?.signal);
      if (list.rows.length > best.rows.length) best = { ...list, seedRow };
      if (best.rows.length >= Math.min(k, ENOUGH)) break;
    }
    return best;
  }

  /** Items like one, those first that the user would like, too. */
  private async similar(ask: KindAsk): Promise<KindList> {
    const { itemNeighbors, ownOrder } = this.parts;
    const { history, k, accept, caller } = ask;
    const seedRow = this.seedOf(ask);
    if (seedRow < 0) return NOTHING;
    const like = await itemNeighbors.of(seedRow, Math.max(k, SIMILAR_MAX), accept, caller?.signal);
    const own = history.userRow < 0 ? [] : await ownOrder(history, like.rows, caller);
    return { ...byPlaces([like.rows, own], k), seedRow };
  }

  private async byRecommenders(
    names: readonly (keyof Sources)[],
    { history, k, accept, caller }: KindAsk,
  ): Promise<Ranked> {
    const lists: (readonly number[])[] = [];
    for (const name of names) {
      const { rows } = await this.parts.sources[name].rank({ history, k, accept, categories: [], caller });
      lists.push(rows);
    }
    return byPlaces(lists, k);
  }
}

/** Rows of several lists, those first that stand high in them together. */
function byPlaces(lists: readonly (readonly number[])[], k: number): Ranked {
  const sums = new Map<number, number>();
  for (const list of lists)
    for (const [at, row] of list.entries()) sums.set(row, (sums.get(row) ?? 0) + 1 / (RANK_OFFSET + at + 1));
  const best = new TopK(k);
  for (const [row, sum] of sums) best.push(row, sum);
  return best.sorted();
}

/** Rows of a list, with so many of others taken in that at each place their share stands above it. */
export function withShare(
  rows: readonly number[],
  others: readonly number[],
  share: number,
  most: number,
): number[] {
  const isOther = new Set(others);
  const taken = new Set<number>();
  let shown = 0;
  let [next, nextOther] = [0, 0];
  const all: number[] = [];
  while (all.length < most) {
    while (next < rows.length && taken.has(rows[next]!)) next++;
    while (nextOther < others.length && taken.has(others[nextOther]!)) nextOther++;
    const lacks = shown < Math.floor(share * (all.length + 1));
    const row = lacks && nextOther < others.length ? others[nextOther]! : (rows[next] ?? others[nextOther]);
    if (row === undefined) break;
    if (isOther.has(row)) shown++;
    taken.add(row);
    all.push(row);
  }
  return all;
}

const ITEMS_MAX = 1000;

type Reads = Pick<LocalReads, 'readUserFeedback' | 'feedbackTypes'>;

/** Items with feedback of a type that begins them and, since, none of one that ends them; begun last first. */
function begunItems(
  reads: Reads,
  userRow: number,
  { begun, finished }: { readonly begun: readonly string[]; readonly finished: readonly string[] },
): Ranked {
  if (userRow < 0) return NOTHING;
  const feedback = new FeedbackColumns();
  reads.readUserFeedback(userRow, feedback);
  const names = reads.feedbackTypes();
  const latest = new TopK(ITEMS_MAX);
  const { length, itemRows, types, timesMs } = feedback;
  // Feedback comes in the order of its items.
  for (let at = 0; at < length; ) {
    const row = itemRows[at]!;
    let [begunMs, endedMs] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (; at < length && itemRows[at] === row; at++) {
      const name = names[types[at]!]!;
      if (begun.includes(name)) begunMs = Math.max(begunMs, timesMs[at]!);
      else if (finished.includes(name)) endedMs = Math.max(endedMs, timesMs[at]!);
    }
    if (endedMs < begunMs) latest.push(row, begunMs);
  }
  return latest.sorted();
}

const LENGTH_MAX = 2000;
/** Rows that are looked at between two pauses. */
const STEP_ROWS = 8192;
/** The spans that count as lately, and as the past of an item. */
const LATELY = POPULARITY_SCALES.indexOf('2d');
const PAST = POPULARITY_SCALES.indexOf('30d');
/** Likes lately below which an item's rise tells nothing. */
const LIKES_MIN = 2;

/**
 * Items that rise against their own past: by how many standard deviations of a Poisson count the likes of about two days are more than
 * the item's share in those of a month lets expect. What rises with all others does not. Pauses now and then.
 */
function* rising(counts: Pick<PopularityCounts, 'scales' | 'totals'>): Generator<undefined, Ranked> {
  const { scales } = counts;
  const totals = counts.totals();
  const lately = scales[LATELY]!;
  const past = scales[PAST]!;
  // Counts are kept up to a factor that all items of a scale share.
  const latelyFactor = lately.total > 0 ? totals[LATELY]! / lately.total : 0;
  const expectedFactor = past.total > 0 ? totals[LATELY]! / past.total : 0;
  const best = new TopK(LENGTH_MAX);
  const length = Math.min(lately.values.length, past.values.length);
  for (let row = 0; row < length; row++) {
    if (row % STEP_ROWS === STEP_ROWS - 1) yield;
    const likes = lately.values[row]! * latelyFactor;
    if (likes < LIKES_MIN / 2) continue;
    const expected = past.values[row]! * expectedFactor;
    if (likes > expected) best.push(row, (likes - expected) / Math.sqrt(expected + 1));
  }
  return best.sorted();
}
