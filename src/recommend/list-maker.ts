import type { ColdItems } from './cold-items.ts';
import { explore } from './exploration.ts';
import type { History } from './history.ts';
import { type Ranked, TopK } from './ranked.ts';
import { type RankingCase, type RankingWorld, type RankOrder, rankCandidates } from './ranker.ts';
import { looksAt, scalesOf } from './ranking.ts';
import { RowSet } from './row-set.ts';
import { RowSums } from './row-sums.ts';

/** The most recent likes that a user's vector is solved from; more would cost a request milliseconds. */
export const FOLD_IN_LIKES_MAX = 2000;

/** The most recent likes that the sparse linear model looks at: each speaks for some hundred items. */
const WEIGHED_LIKES_MAX = 200;

/** The most recent likes among which new items are looked for. */
const COLD_LIKES_MAX = 50;

/** What the learned ranking wants proposed beside what the enabled recommenders propose. */
export interface RankingSources {
  /** Popularity scales whose first items are proposed. */
  readonly scales: readonly number[];
  readonly latest: boolean;
}

const NO_SOURCES: RankingSources = { scales: [], latest: false };

/** What is proposed to one user. */
export interface Proposal extends RankingCase {
  /** The user's likes, latest first. */
  readonly liked: readonly number[];
}

/** The configuration of the offline phase. Plain data: it goes to the workers as it is. */
export interface ListSettings {
  /** Which recommenders propose candidates. */
  readonly latest: boolean;
  readonly popular: boolean;
  readonly userBased: boolean;
  readonly itemBased: boolean;
  readonly collaborative: boolean;
  /** What orders the candidates. */
  readonly order: RankOrder;
  /** Candidates of each recommender, and entries of a list. */
  readonly cacheSize: number;
  /** How many of the latest likes the item-based recommender looks at. */
  readonly seedItems: number;
  /** Puts read items back, with these factors on their scores; undefined when off. */
  readonly replacement: { readonly positiveDecay: number; readonly readDecay: number } | undefined;
  /** Proportions of popular and of latest items put in. */
  readonly explore: { readonly popular: number; readonly latest: number };
  readonly seed: number;
}

/** What lists are made of beside the user: on the main thread it moves with every write, in a worker it is a copy. */
export interface ListWorld extends RankingWorld {
  /** Listable items, newest first; some more than a list has entries. */
  readonly latestRows: () => ArrayLike<number>;
  /** Listable items, most popular first; likewise. */
  readonly popularRows: () => ArrayLike<number>;
  /** Listable items with the most positive feedback on one popularity scale, most first; likewise. */
  readonly trendingRows: (scale: number) => ArrayLike<number>;
  readonly isListable: (itemRow: number) => boolean;
  /** Items like the user's latest likes, with summed similarity; only those that pass. */
  readonly similarItems: (likedRows: readonly number[]) => ReadonlyMap<number, number>;
  /** Items that users like this one like, best first. */
  readonly userBased: (history: History, accept: (row: number) => boolean) => ArrayLike<number>;
  readonly labelsOf: (userRow: number) => readonly string[];
  readonly coldItems: ColdItems;
}

/**
 * Makes a user's list: matching, ranking, replacement,
 * exploration. The same on the main thread, after a click, and in a worker, for everybody.
 */
export class ListMaker {
  private readonly settings: ListSettings;
  private readonly world: ListWorld;
  private readonly isPositive: (type: number) => boolean;
  private readonly chosen = new RowSet();
  private readonly itemWeights = new RowSums();

  constructor(settings: ListSettings, world: ListWorld, isPositive: (type: number) => boolean) {
    this.settings = settings;
    this.world = world;
    this.isPositive = isPositive;
  }

  /** The user's vector against the current model, undefined without one. */
  vectorOf(history: History): Float32Array | undefined {
    return this.foldIn(history.positiveRows(this.isPositive, FOLD_IN_LIKES_MAX));
  }

  /** True when feedback that lists are made of has taken effect by a time after `sinceMs`. */
  hasNews(history: History, sinceMs: number): boolean {
    if (history.inEffectSinceMs <= sinceMs) return false;
    return this.settings.replacement !== undefined || history.hasPositiveAfter(this.isPositive, sinceMs);
  }

  /** True when likes that counted at `sinceMs` are too old to count now. */
  hasExpired(history: History, sinceMs: number): boolean {
    return history.hasExpiredSince(this.isPositive, sinceMs);
  }

  /** A like of a new item, which the model does not know, speaks for the known items that it is like. */
  private foldIn(liked: readonly number[]): Float32Array | undefined {
    const { generation, coldItems } = this.world;
    if (generation?.collaborative === undefined) return undefined;
    const { rows, starts, likes, knownRows } = coldItems;
    const known = [...liked];
    for (let at = 0; rows.length > 0 && at < liked.length && at < COLD_LIKES_MAX; at++) {
      const cold = rows.indexOf(liked[at]!);
      if (cold < 0) continue;
      for (let entry = starts[cold]!; entry < starts[cold + 1]!; entry++)
        known.push(knownRows[likes[entry]!]!);
    }
    return generation.collaborative.foldIn(known);
  }

  /** The user's list, best first; undefined when no recommender has anything to propose. */
  make(history: History): Ranked | undefined {
    const { settings, world } = this;
    const { cacheSize } = settings;
    const proposal = this.propose(history, this.rankingSources());
    const { candidates, liked } = proposal;
    if (candidates.length === 0) return undefined;
    const replaced = settings.replacement === undefined ? [] : this.readItems(history);
    const likedSet = new Set(liked);
    const { coldItems } = world;
    const seed = userSeed(settings.seed, history.userRow, world.generation?.number ?? 0);
    const scores = rankCandidates(
      { ...proposal, candidates: [...candidates, ...replaced, ...coldItems.knownRows] },
      world,
      settings.order,
      seed,
    );
    const knownScores = scores.subarray(candidates.length + replaced.length);
    const coldScores = new Map<number, number>();
    coldItems.rows.forEach((row, at) => {
      coldScores.set(row, coldScore(coldItems, at, knownScores));
    });
    const best = new TopK(cacheSize);
    // The models know little of a new item: that a recommender proposes it must not make it score less than otherwise.
    candidates.forEach((row, at) => {
      best.push(row, Math.max(scores[at]!, coldScores.get(row) ?? Number.NEGATIVE_INFINITY));
    });
    replaced.forEach((row, at) => {
      best.push(row, this.decayed(scores[candidates.length + at]!, likedSet.has(row)));
    });
    for (const [row, score] of coldScores) {
      if (!this.chosen.has(row) && this.accept(row, history)) best.push(row, score);
    }
    return explore(best.sorted(), {
      proportions: settings.explore,
      length: cacheSize,
      popularRows: world.popularRows,
      latestRows: world.latestRows,
      accept: (row) => this.accept(row, history),
      seed,
    });
  }

  /** Where click-through is predicted, what the ranking goes by comes up by itself. */
  private rankingSources(): RankingSources {
    const { settings, world } = this;
    const { latest, popular, userBased, itemBased, collaborative } = settings;
    const ranking = settings.order === 'learned' ? world.generation?.ranking : undefined;
    const isAnyOn = latest || popular || userBased || itemBased || collaborative;
    if (ranking === undefined || !isAnyOn) return NO_SOURCES;
    return { scales: scalesOf(ranking), latest: looksAt(ranking, ['age']) };
  }

  /**
   * Distinct unread listable items that the enabled recommenders propose, and those that a ranking wants if the user
   * has liked anything; and what scores them. Valid until the next call.
   */
  propose(history: History, sources: RankingSources): Proposal {
    const { settings, world, chosen, itemWeights } = this;
    const { cacheSize } = settings;
    const { userRow } = history;
    const liked = history.positiveRows(this.isPositive, FOLD_IN_LIKES_MAX);
    const vector = this.foldIn(liked);
    this.weigh(liked);
    const accept = (row: number) => this.accept(row, history);
    const candidates: number[] = [];
    chosen.clear();
    const take = (rows: ArrayLike<number>) => {
      for (let at = 0, taken = 0; at < rows.length && taken < cacheSize; at++) {
        const row = rows[at]!;
        if (!accept(row)) continue;
        taken++;
        if (chosen.has(row)) continue;
        chosen.add(row);
        candidates.push(row);
      }
    };
    if (settings.collaborative && vector !== undefined)
      take(
        world.generation!.collaborative!.topItems(vector, cacheSize, accept, history.readRowsInEffect()).rows,
      );
    if (settings.collaborative) take(this.topWeighted(accept));
    if (settings.itemBased) {
      const top = new TopK(cacheSize);
      const similarity = world.similarItems(liked.slice(0, settings.seedItems));
      for (const [row, sum] of similarity) if (accept(row)) top.push(row, sum);
      take(top.sorted().rows);
    }
    if (settings.userBased) take(world.userBased(history, accept));
    if (settings.popular) take(world.popularRows());
    if (liked.length > 0) for (const scale of sources.scales) take(world.trendingRows(scale));
    if (settings.latest || (liked.length > 0 && sources.latest)) take(world.latestRows());
    const userLabels = () => world.labelsOf(userRow);
    return { candidates, liked, userRow: history.modelRow, userLabels, vector, itemWeights };
  }

  /**
   * Items out of `members` that the models propose, in the order in which they would stand in a list. Candidates come a
   * list's length at a time, so that the beginning does not depend on `k`.
   */
  among(
    history: History,
    members: ReadonlySet<number>,
    k: number,
    accept: (row: number) => boolean,
  ): readonly number[] {
    const { settings, world } = this;
    const collaborative = settings.collaborative ? world.generation?.collaborative : undefined;
    const liked = history.positiveRows(this.isPositive, FOLD_IN_LIKES_MAX);
    const vector = collaborative && this.foldIn(liked);
    if (collaborative === undefined || vector === undefined) return [];
    this.weigh(liked);
    const rows: number[] = [];
    const length = Math.ceil(k / settings.cacheSize) * settings.cacheSize;
    const candidates = collaborative.topItems(vector, length, accept, [], members).rows;
    for (let from = 0; from < candidates.length && rows.length < k; from += settings.cacheSize) {
      const block = candidates.slice(from, from + settings.cacheSize);
      const best = new TopK(block.length);
      this.rank(history, liked, vector, block).forEach((score, at) => {
        best.push(block[at]!, score);
      });
      rows.push(...best.sorted().rows);
    }
    return rows.slice(0, k);
  }

  /** Entries of a list at most. */
  get listLength(): number {
    return this.settings.cacheSize;
  }

  /**
   * What these items score in a list that was made without them by the same models; those that no recommender
   * proposes, or that the user has read, are left out.
   */
  scoreNewcomers(history: History, itemRows: readonly number[]): { itemRow: number; score: number }[] {
    const { coldItems } = this.world;
    const liked = history.positiveRows(this.isPositive, FOLD_IN_LIKES_MAX);
    const vector = this.foldIn(liked);
    this.weigh(liked);
    const isProposed = this.proposes(liked, vector);
    const rows = itemRows.filter((row) => this.accept(row, history) && isProposed(row));
    if (rows.length === 0) return [];
    const scores = this.rank(history, liked, vector, [...rows, ...coldItems.knownRows]);
    const knownScores = scores.subarray(rows.length);
    return rows.map((itemRow, at) => {
      const cold = coldItems.rows.indexOf(itemRow);
      const score = cold < 0 ? scores[at]! : Math.max(scores[at]!, coldScore(coldItems, cold, knownScores));
      return { itemRow, score };
    });
  }

  /** The scores of items for a user, once the user's likes are weighed. */
  private rank(
    { userRow, modelRow }: History,
    liked: readonly number[],
    vector: Float32Array | undefined,
    candidates: readonly number[],
  ): Float64Array {
    const { settings, world, itemWeights } = this;
    const { generation } = world;
    const userLabels = () => world.labelsOf(userRow);
    const seed = userSeed(settings.seed, userRow, generation?.number ?? 0);
    const one: Proposal = { candidates, liked, userRow: modelRow, userLabels, vector, itemWeights };
    return rankCandidates(one, world, settings.order, seed);
  }

  /** A test for items that an enabled recommender may propose. */
  private proposes(liked: readonly number[], vector: Float32Array | undefined): (row: number) => boolean {
    const { settings, world, itemWeights } = this;
    const collaborative = settings.collaborative ? world.generation?.collaborative : undefined;
    const similar = settings.itemBased ? world.similarItems(liked.slice(0, settings.seedItems)) : undefined;
    const sources = liked.length > 0 ? this.rankingSources() : NO_SOURCES;
    const global = new Set<number>();
    const add = (rows: ArrayLike<number>) => {
      for (let at = 0; at < rows.length; at++) global.add(rows[at]!);
    };
    if (settings.popular) add(world.popularRows());
    if (settings.latest || sources.latest) add(world.latestRows());
    for (const scale of sources.scales) add(world.trendingRows(scale));
    return (row) =>
      world.coldItems.rows.includes(row) ||
      (vector !== undefined &&
        collaborative !== undefined &&
        collaborative.scoreItems(vector, [row])[0] !== 0) ||
      (settings.collaborative && itemWeights.get(row) > 0) ||
      similar?.has(row) === true ||
      global.has(row);
  }

  /** What the ranking gives one item for the user; undefined where there is nothing to rank by but chance. */
  scoreOf(history: History, itemRow: number): number | undefined {
    const { settings, world } = this;
    const { generation } = world;
    const proposal = this.propose(history, NO_SOURCES);
    const isRanked = settings.order === 'learned' && generation?.ranking !== undefined;
    if (settings.order === 'random' || (!isRanked && proposal.vector === undefined)) return undefined;
    const one = { ...proposal, candidates: [itemRow] };
    return rankCandidates(one, world, settings.order, settings.seed)[0];
  }

  /** Sums what the latest likes speak for. */
  private weigh(liked: readonly number[]): void {
    const { itemWeights } = this;
    const model = this.world.generation?.itemWeights;
    itemWeights.clear();
    if (model === undefined) return;
    for (let at = 0; at < liked.length && at < WEIGHED_LIKES_MAX; at++) {
      const { rows, scores } = model.neighborsAt(liked[at]!);
      for (let entry = 0; entry < rows.length; entry++) itemWeights.add(rows[entry]!, scores[entry]!);
    }
  }

  private topWeighted(accept: (row: number) => boolean): readonly number[] {
    const top = new TopK(this.settings.cacheSize);
    for (const row of this.itemWeights.rows) {
      const sum = this.itemWeights.get(row);
      if (sum > 0 && accept(row)) top.push(row, sum);
    }
    return top.sorted().rows;
  }

  private accept(row: number, history: History): boolean {
    return this.world.isListable(row) && !history.hasRead(row);
  }

  private readItems(history: History): number[] {
    return history.readRowsInEffect().filter(this.world.isListable);
  }

  /** A score and its decay stand in for "so much less likely", also where scores are negative. */
  private decayed(score: number, liked: boolean): number {
    const { positiveDecay, readDecay } = this.settings.replacement!;
    return score - (1 - (liked ? positiveDecay : readDecay)) * Math.abs(score);
  }
}

/** What a cold item's like score, weighted by how like they are. */
function coldScore(
  { starts, likes, similarities }: ColdItems,
  at: number,
  knownScores: Float64Array,
): number {
  let sum = 0;
  let weight = 0;
  for (let entry = starts[at]!; entry < starts[at + 1]!; entry++) {
    sum += similarities[entry]! * knownScores[likes[entry]!]!;
    weight += similarities[entry]!;
  }
  return sum / weight;
}

/** A seed of the user's own, so that the order of users does not matter. */
function userSeed(seed: number, userRow: number, generation: number): number {
  return Math.imul(seed ^ Math.imul(userRow + 1, 0x9e3779b1), 0x85ebca6b) ^ Math.imul(generation, 0xc2b2ae35);
}
