import type { RecommenderName } from '../../../domain/recommenders.ts';
import type { Ranked } from '../../../memory/ranked-rows.ts';
import { TopK } from '../../../memory/top-k.ts';
import type { LookedAt } from '../../../model/als/collaborative-model.ts';
import type { WantedItems } from '../../catalogue/item-filter.ts';
import type { TypeTest } from '../../history/counts-as-positive.ts';
import type { History } from '../../history/history.ts';
import { type Discovery, scalesOf, withDiscovery } from '../../models/feature-names.ts';
import { itemScore, withMoreLikes } from '../../ranking/compute-features.ts';
import { rankCandidates, userScores } from '../../ranking/rank-candidates.ts';
import type { ListInputs } from '../../sources/list-inputs.ts';
import type { ListSettings } from '../../sources/list-settings.ts';
import {
  CandidateFinder,
  CandidateScratch,
  type LookedUp,
  type Proposal,
  proposalOf,
} from './candidate-finder.ts';
import { explainScore, partsOfFirst, type ScoreParts } from './explain-score.ts';
import { explore } from './exploration.ts';
import { decayedScores, putBack } from './put-read-items-back.ts';
import { coldScore } from './score-cold-items.ts';

/** Items that each recommender proposes for a session, whose list is made while its request waits on the main thread. */
const SESSION_PROPOSALS = 30;

/**
 * Makes a user's list: candidates, ranking, replacement, exploration. The same on the main thread, after a click, and in
 * a worker, for everybody.
 */
export class ListMaker {
  private readonly settings: ListSettings;
  private readonly inputs: ListInputs;
  private readonly isPositive: TypeTest;
  private readonly scratch: CandidateScratch;
  private readonly finder: CandidateFinder;
  private readonly sessionFinder: CandidateFinder;

  /** @param scratch of a list maker that is no longer used, which saves making it */
  constructor(
    settings: ListSettings,
    inputs: ListInputs,
    isPositive: TypeTest,
    scratch = new CandidateScratch(),
  ) {
    this.settings = settings;
    this.inputs = inputs;
    this.isPositive = isPositive;
    this.scratch = scratch;
    this.finder = new CandidateFinder(settings, inputs, isPositive, scratch);
    const few = Math.min(SESSION_PROPOSALS, settings.cacheSize);
    const ofSessions = { ...settings, cacheSize: few, proposals: few };
    this.sessionFinder = new CandidateFinder(ofSessions, inputs, isPositive, scratch);
  }

  /**
   * One that ranks with so much discovery, for one question: it sees what there is now, and uses the scratch of this one.
   * @param discovery see `withDiscovery`; this one when undefined
   */
  turnedTo(discovery: Discovery | undefined): ListMaker {
    const { generation } = this.inputs;
    if (discovery === undefined || generation === undefined) return this;
    const ranking = withDiscovery(generation.ranking, discovery);
    // What is kept of items is by the other ranking.
    const { kept: _, ...inputs } = this.inputs;
    const turned = { ...inputs, generation: { ...generation, ranking } };
    return new ListMaker(this.settings, turned, this.isPositive, this.scratch);
  }

  /** Entries of a list at most. */
  get listLength(): number {
    return this.settings.cacheSize;
  }

  /** The user's vector against the current model, undefined without one. */
  vectorOf(history: History): Float32Array | undefined {
    return this.finder.vectorOf(history);
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

  /**
   * The user's list, best first; undefined when no recommender has anything to propose.
   * @param filter what one question wants of the items
   * @param ahead what was looked up for the user together with others; the list is the same without
   */
  make(history: History, filter?: WantedItems, ahead?: LookedUp): Ranked | undefined {
    const { settings, inputs, finder } = this;
    const proposal = finder.propose(history, undefined, filter, ahead);
    if (proposal.candidates.length === 0) return undefined;
    return explore(this.best(history, proposal, filter), {
      proportions: settings.explore,
      length: settings.cacheSize,
      popularRows: inputs.popularRows,
      latestRows: inputs.latestRows,
      accept: (row) => finder.accepts(row, history, filter),
      seed: this.seedOf(history),
    });
  }

  /**
   * The list of a session; undefined where no ranking was learned or nothing is proposed.
   * @param history of an unknown user
   * @param liked items of the session that count, the latest first
   * @param read all items of the session, ascending
   * @param length entries wanted; no more than a list has
   */
  makeForSession(
    history: History,
    liked: readonly number[],
    read: readonly number[],
    length: number,
  ): Ranked | undefined {
    const { settings, inputs, sessionFinder: finder } = this;
    if (settings.order !== 'learned' || inputs.generation?.ranking === undefined) return undefined;
    const proposal = finder.propose(history, undefined, undefined, finder.session(liked, read));
    return proposal.candidates.length === 0 ? undefined : this.best(history, proposal, undefined, length);
  }

  /** Looks up for many users together what their lists are made of; see `CandidateFinder.lookUp`. */
  lookUp(histories: readonly History[]): readonly LookedUp[] {
    return this.finder.lookUp(histories);
  }

  /** The best of what is proposed, of the cold items and of what is put back. */
  private best(
    history: History,
    proposal: Proposal,
    filter: WantedItems | undefined,
    length = this.listLength,
  ): Ranked {
    const { settings, inputs, finder } = this;
    const { coldItems } = inputs;
    const { candidates } = proposal;
    const isWanted = (row: number) => filter?.accepts(row) ?? true;
    const replaced = putBack(settings.replacement, history, inputs.isListable, isWanted);
    const isMore = replaced.length > 0 || coldItems.knownRows.length > 0;
    const scores = this.rank(
      history,
      isMore ? { ...proposal, candidates: [...candidates, ...replaced, ...coldItems.knownRows] } : proposal,
    );
    const knownScores = scores.subarray(candidates.length + replaced.length);
    const coldScores = new Map<number, number>();
    coldItems.rows.forEach((row, at) => {
      coldScores.set(row, coldScore(coldItems, at, knownScores));
    });
    const best = new TopK(Math.min(length, settings.cacheSize));
    const put = (row: number, score: number) => best.push(row, filter?.boosted(row, score) ?? score);
    // The models know little of a new item: that a recommender proposes it must not make it score less than otherwise.
    for (let at = 0; at < candidates.length; at++) {
      const row = candidates[at]!;
      const cold = coldScores.size > 0 ? coldScores.get(row) : undefined;
      put(row, cold === undefined ? scores[at]! : Math.max(scores[at]!, cold));
    }
    const ofReplaced = scores.subarray(candidates.length);
    decayedScores(settings.replacement, replaced, ofReplaced, proposal.liked).forEach((score, at) => {
      put(replaced[at]!, score);
    });
    for (const [row, score] of coldScores) {
      if (!finder.isProposed(row) && finder.accepts(row, history, filter)) put(row, score);
    }
    return best.sorted();
  }

  /** True where the user may be shown the item. @param filter what one question wants of the items */
  accepts(row: number, history: History, filter?: WantedItems): boolean {
    return this.finder.accepts(row, history, filter);
  }

  /**
   * Items of a part of the catalogue that the models propose, in the order in which they would stand in a list. Candidates
   * come a list's length at a time, so that the beginning does not depend on `k`.
   * @param filter what one question wants of the items
   */
  among(
    history: History,
    part: LookedAt,
    k: number,
    accept: (row: number) => boolean,
    filter?: WantedItems,
  ): readonly number[] {
    const { settings, inputs, finder } = this;
    const collaborative = settings.collaborative ? inputs.generation?.parts.als : undefined;
    if (collaborative === undefined) return [];
    const match = finder.match(history, undefined);
    if (match.vector === undefined) return [];
    const rows: number[] = [];
    const length = this.wholeLists(k);
    const lookedAt = { ...part, read: history.readRowsInEffect() };
    const candidates = collaborative.topItems(match.vector, length, accept, lookedAt).rows;
    for (let from = 0; from < candidates.length && rows.length < k; from += settings.cacheSize) {
      const block = candidates.slice(from, from + settings.cacheSize);
      const best = new TopK(block.length);
      this.rank(history, proposalOf(match, block)).forEach((score, at) => {
        best.push(block[at]!, filter?.boosted(block[at]!, score) ?? score);
      });
      rows.push(...best.sorted().rows);
    }
    return rows.slice(0, k);
  }

  /** Entries of the fewest whole lists that hold `k`. */
  wholeLists(k: number): number {
    return Math.ceil(k / this.settings.cacheSize) * this.settings.cacheSize;
  }

  /** The rows of what a recommender found with their boosts, a list's length at a time. */
  boosted({ rows, scores }: Ranked, filter: Pick<WantedItems, 'boosted'>): readonly number[] {
    const { cacheSize } = this.settings;
    const ordered: number[] = [];
    for (let from = 0; from < rows.length; from += cacheSize) {
      const best = new TopK(cacheSize);
      for (let at = from; at < Math.min(rows.length, from + cacheSize); at++)
        best.push(rows[at]!, filter.boosted(rows[at]!, scores[at]!));
      ordered.push(...best.sorted().rows);
    }
    return ordered;
  }

  /**
   * The scores of these items in a list that was made without them by the same models; those that no recommender
   * proposes, or that the user has read, are left out.
   */
  scoreNewcomers(history: History, itemRows: readonly number[]): { itemRow: number; score: number }[] {
    const { finder } = this;
    const { coldItems } = this.inputs;
    const match = finder.match(history, undefined);
    const isProposed = finder.newcomerTest(match);
    const rows = itemRows.filter((row) => match.accept(row) && isProposed(row));
    if (rows.length === 0) return [];
    const scores = this.rank(history, proposalOf(match, [...rows, ...coldItems.knownRows]));
    const knownScores = scores.subarray(rows.length);
    return rows.map((itemRow, at) => {
      const cold = coldItems.rows.indexOf(itemRow);
      const score = cold < 0 ? scores[at]! : Math.max(scores[at]!, coldScore(coldItems, cold, knownScores));
      return { itemRow, score };
    });
  }

  /** The score that the ranking gives one item for the user; undefined where there is nothing to rank by but chance. */
  scoreOf(history: History, itemRow: number): number | undefined {
    const { settings, inputs, finder } = this;
    const match = finder.match(history, undefined);
    const isRanked = settings.order === 'learned' && inputs.generation?.ranking !== undefined;
    if (settings.order === 'random' || (!isRanked && match.vector === undefined)) return undefined;
    return this.rank(history, proposalOf(match, [itemRow]))[0];
  }

  /** Finds what lists of the main thread begin with and few others ask for: after a fit all items are gone through for it. */
  *warm(): Generator<undefined> {
    const { generation, trendingRows } = this.inputs;
    for (const scale of new Set(generation?.ranking?.byKind.flatMap((kind) => scalesOf(kind)))) {
      trendingRows(scale);
      yield;
    }
  }

  /** The user's list as it would be after one more like. @param itemRow of an item that the user has not read */
  listWithLike(history: History, itemRow: number): readonly number[] {
    return this.make(history, undefined, this.finder.withLike(history, itemRow))?.rows ?? [];
  }

  /** By how much an item scores more than another one after one more like. @param likedRow of an item that the user has not read */
  leadWithLike(history: History, likedRow: number, [itemRow, other]: readonly [number, number]): number {
    const match = this.finder.match(history, undefined, undefined, this.finder.withLike(history, likedRow));
    const [own = 0, ofOther = 0] = this.rank(history, proposalOf(match, [itemRow, other]));
    return own - ofOther;
  }

  /**
   * So many more people would have to like an item now for it to score more than another one; undefined where `max` would
   * not do, where nothing was learned to rank by, and for an item that nobody proposes to the user.
   * @param records all feedback on each scale of popularity, in records of now
   */
  likesUntilAbove(
    history: History,
    [itemRow, other]: readonly [number, number],
    records: readonly number[],
    max: number,
  ): number | undefined {
    const { inputs, finder, settings } = this;
    const match = finder.match(history, undefined);
    const ranking = settings.order === 'learned' ? inputs.generation?.ranking : undefined;
    if (ranking === undefined || !finder.newcomerTest(match)(itemRow)) return undefined;
    const proposal = proposalOf(match, [itemRow, other]);
    const regression = ranking.byKind[proposal.kind]!;
    const [own, ofOther] = userScores(proposal, inputs, regression);
    const isAbove = (likes: number) => {
      const popularity = withMoreLikes(inputs.popularity, [itemRow, other], records, likes);
      const scoreOf = itemScore({ ...inputs, popularity }, ranking.totals, regression.weights);
      return own! + scoreOf(itemRow) > ofOther! + scoreOf(other);
    };
    if (!isAbove(max)) return undefined;
    let [low, high] = [0, max];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (isAbove(middle)) high = middle;
      else low = middle;
    }
    return high;
  }

  /** The score of the first of some items as a sum of what speaks for it and against it; see `explainScore`. */
  *partsOf(history: History, itemRows: readonly number[]): Generator<undefined, ScoreParts | undefined> {
    const proposal = yield* this.ahead(history, itemRows);
    return proposal && (yield* explainScore(proposal, this.inputs, itemRows.length));
  }

  /** For each of some items the parts of its score by feature; undefined where nothing was learned to rank by. */
  *featurePartsOf(
    history: History,
    itemRows: readonly number[],
  ): Generator<undefined, readonly ScoreParts['parts'][] | undefined> {
    const proposal = yield* this.ahead(history, itemRows);
    return proposal && partsOfFirst(proposal, this.inputs, itemRows.length)?.parts;
  }

  /** The user's candidates behind these items, to be looked at at once; undefined where no ranking is learned. */
  private *ahead(history: History, itemRows: readonly number[]): Generator<undefined, Proposal | undefined> {
    const { finder, settings } = this;
    if (settings.order !== 'learned') return undefined;
    const others = finder.propose(history, undefined).candidates.filter((row) => !itemRows.includes(row));
    yield;
    // Sums are those of whoever was asked about last.
    return proposalOf(finder.match(history, undefined), [...itemRows, ...others]);
  }

  /** True where lists are made of what a recommender proposes. */
  uses(name: RecommenderName): boolean {
    return this.settings[name];
  }

  private rank(history: History, proposal: Proposal): Float64Array {
    return rankCandidates(proposal, this.inputs, this.settings.order, this.seedOf(history));
  }

  /** A seed of the user's own, so that the order of users does not matter. */
  private seedOf({ userRow }: History): number {
    const generation = this.inputs.generation?.number ?? 0;
    const { seed } = this.settings;
    return (
      Math.imul(seed ^ Math.imul(userRow + 1, 0x9e3779b1), 0x85ebca6b) ^ Math.imul(generation, 0xc2b2ae35)
    );
  }
}
