import type { WantedItems } from '../../catalogue/item-filter.ts';
import type { TypeTest } from '../../history/counts-as-positive.ts';
import type { History } from '../../history/history.ts';
import { isUnread, ReadItems } from '../../history/read-items.ts';
import { kindOf, looksAt, SESSION_KIND, scalesOf, sumsOf } from '../../models/feature-names.ts';
import { LikeSums, SESSION_WEIGHTS } from '../../models/like-sums.ts';
import type { RankingCase } from '../../ranking/compute-features.ts';
import { RowSet } from '../../rows/row-set.ts';
import type { ListInputs } from '../../sources/list-inputs.ts';
import { type ListSettings, proposesAny } from '../../sources/list-settings.ts';
import type { Match, RankingSources } from '../../sources/matcher.ts';
import { MATCHERS } from '../../sources/registry.ts';
import { withKnownLikes } from './score-cold-items.ts';

/** The most recent likes that a user's vector is solved from; more would cost a request milliseconds. */
export const FOLD_IN_LIKES_MAX = 2000;

/** So many candidates for each entry of a list are enough to rank. */
const ENOUGH = 2;

/** Where a question leaves so few items, they are ranked without any recommender's proposal. */
const RANKED_MAX = 500;

/** Nothing is proposed but by the enabled recommenders. */
const NO_SOURCES: RankingSources = { scales: [], latest: false, sums: [] };

/** The candidates of one user. */
export interface Proposal extends RankingCase {
  /** The user's likes, latest first. */
  readonly liked: readonly number[];
}

/** Answers looked up for one user together with others. */
export interface LookedUp extends Pick<Match, 'liked' | 'read' | 'vector'> {
  /** The user's kind by likes and by the time since the last feedback when absent. */
  readonly kind?: number;
  /** The items with the highest scores for the vector. */
  readonly closest: ArrayLike<number> | undefined;
}

/** Arrays as long as the catalogue in which candidates are found, for one user after the other. Not to be used by two at once. */
export class CandidateScratch {
  /** The candidates. */
  readonly chosen = new RowSet();
  /** The items that the user of the present match has read. */
  readonly read = new ReadItems();
  readonly sums = new LikeSums();
}

/** Finds one user's candidates by all recommenders of `sources/registry.ts`. Not to be used by two at once. */
export class CandidateFinder {
  private readonly settings: ListSettings;
  private readonly inputs: ListInputs;
  private readonly isPositive: TypeTest;
  private readonly scratch: CandidateScratch;

  /** @param scratch of one that is no longer used, which saves making it */
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
  }

  /** The user's vector against the current model, undefined without one. */
  vectorOf(history: History): Float32Array | undefined {
    return this.foldIn(this.likesOf(history));
  }

  /**
   * The user as recommenders are asked for it. Valid until the next call.
   * @param all what is wanted beside what the enabled recommenders propose; what the ranking of the user's kind wants when undefined
   * @param filter what one question wants of the items
   */
  match(history: History, all: RankingSources | undefined, filter?: WantedItems, ahead?: LookedUp): Match {
    const { settings, inputs } = this;
    const { sums, read: readItems } = this.scratch;
    const liked = ahead?.liked ?? this.likesOf(history);
    const kind = ahead?.kind ?? kindOf(liked.length, history.idleMs);
    const wanted = all ?? this.rankingSources(kind);
    const { recentLikes, vectors, labels } = inputs;
    const who = kind === SESSION_KIND ? { weights: SESSION_WEIGHTS } : { userRow: history.modelRow };
    sums.sumUp(inputs.generation?.parts, liked, wanted.sums, { recentLikes, vectors, labels, ...who });
    const read = ahead?.read ?? history.readRowsInEffect();
    readItems.hold(read);
    const accept = (row: number) => readItems.isUnread(row) && inputs.isListable(row);
    return {
      ...{ inputs, settings, history, kind, liked, read, sums },
      vector: ahead === undefined ? this.foldIn(liked) : ahead.vector,
      closest: ahead?.closest,
      wanted,
      allowed: filter?.allowed ?? inputs.listableBits?.(),
      accept: filter === undefined ? accept : (row) => accept(row) && filter.accepts(row),
      k: settings.cacheSize,
    };
  }

  /**
   * Looks up for many users together what `match` would for each: the model is gone through once for 64 of them. Only in a
   * inputs whose bits say what is listable.
   */
  lookUp(histories: readonly History[]): readonly LookedUp[] {
    const { settings, inputs } = this;
    const found = histories.map((history) => {
      const liked = this.likesOf(history);
      return { liked, read: history.readRowsInEffect(), vector: this.foldIn(liked) };
    });
    const model = settings.collaborative ? inputs.generation?.parts.als : undefined;
    const allowed = inputs.listableBits?.();
    if (model === undefined || allowed === undefined)
      return found.map((one) => ({ ...one, closest: undefined }));
    const asked = found.flatMap(({ vector, read }) => (vector === undefined ? [] : [{ vector, read }]));
    const lists = model.topItemsOfMany(asked, settings.cacheSize, allowed);
    let next = 0;
    return found.map((one) => ({ ...one, closest: one.vector && lists[next++] }));
  }

  /** A user of whom the collaborative model scores what others propose, and goes through no catalogue. */
  withoutCatalogue(history: History): LookedUp {
    const liked = this.likesOf(history);
    return { liked, read: history.readRowsInEffect(), vector: this.foldIn(liked), closest: [] };
  }

  /** The user with one more like, of now. @param itemRow of an item that the user has not read */
  withLike(history: History, itemRow: number): LookedUp {
    const liked = [itemRow, ...this.likesOf(history)];
    const read = history.readRowsInEffect();
    const behind = read.findIndex((row) => row > itemRow);
    read.splice(behind < 0 ? read.length : behind, 0, itemRow);
    return { kind: kindOf(liked.length, 0), liked, read, vector: this.foldIn(liked), closest: undefined };
  }

  /** A session with these likes: the collaborative model scores what others propose where the ranking asks it, and goes through no catalogue. */
  session(liked: readonly number[], read: readonly number[]): LookedUp {
    const ranking = this.inputs.generation?.ranking?.byKind[SESSION_KIND];
    const isAsked = ranking !== undefined && looksAt(ranking, ['collaborative']);
    return { kind: SESSION_KIND, liked, read, vector: isAsked ? this.foldIn(liked) : undefined, closest: [] };
  }

  /**
   * The user's candidates: distinct unread listable items that any recommender proposes. Valid until the next call.
   * @param filter where it leaves few items, all of them are candidates of a user with likes
   */
  propose(
    history: History,
    wanted: RankingSources | undefined,
    filter?: WantedItems,
    ahead?: LookedUp,
  ): Proposal {
    const { chosen } = this.scratch;
    const match = this.match(history, wanted, filter, ahead);
    const candidates: number[] = [];
    chosen.clear();
    const { cacheSize, proposals } = this.settings;
    if (filter === undefined) {
      this.propositions({ ...match, k: proposals }, candidates);
      const areFew = candidates.length < ENOUGH * cacheSize;
      if (proposals < cacheSize && areFew) this.propositions(match, candidates);
    } else if (filter.members !== undefined && filter.members.size <= RANKED_MAX && match.liked.length > 0) {
      for (const row of filter.members) {
        if (!match.accept(row)) continue;
        chosen.add(row);
        candidates.push(row);
      }
    } else {
      // Of each part that a question asks about a whole list: no part is to stand back behind what was found before it.
      for (const { allowed, accepts } of filter.views())
        this.propositions(
          { ...match, allowed, accept: (row) => accepts(row) && match.accept(row) },
          candidates,
        );
    }
    return proposalOf(match, candidates);
  }

  /** Adds what the recommenders propose and is not chosen yet. */
  private propositions(match: Match, candidates: number[]): void {
    const { chosen } = this.scratch;
    const { accept, k } = match;
    for (const matcher of MATCHERS) {
      for (const rows of matcher.lists(match)) {
        for (let at = 0, taken = 0; at < rows.length && taken < k; at++) {
          const row = rows[at]!;
          if (!accept(row)) continue;
          taken++;
          if (chosen.has(row)) continue;
          chosen.add(row);
          candidates.push(row);
        }
      }
    }
  }

  /** True where the last proposal has the item. */
  isProposed(row: number): boolean {
    return this.scratch.chosen.has(row);
  }

  /** A test for items that came after a list was made: whether they would be proposed. */
  newcomerTest(match: Match): (itemRow: number) => boolean {
    const { coldItems } = this.inputs;
    const tests = MATCHERS.map((matcher) => matcher.proposes(match));
    return (row) => coldItems.rows.includes(row) || tests.some((proposes) => proposes(row));
  }

  accepts(row: number, history: History, filter?: WantedItems): boolean {
    return this.inputs.isListable(row) && isUnread(history, row) && (filter?.accepts(row) ?? true);
  }

  /** Where click-through is predicted, what the ranking goes by comes up by itself; what none has taught it, as an opinion of the collaborative recommender. */
  private rankingSources(kind: number): RankingSources {
    const { settings, inputs } = this;
    const learned = settings.order === 'learned' ? inputs.generation?.ranking : undefined;
    if (learned === undefined || !(learned.isUntaught ? settings.collaborative : proposesAny(settings)))
      return NO_SOURCES;
    const ranking = learned.byKind[kind]!;
    return { scales: scalesOf(ranking), latest: looksAt(ranking, ['age']), sums: sumsOf(ranking) };
  }

  private likesOf(history: History): readonly number[] {
    return history.positiveRows(this.isPositive, FOLD_IN_LIKES_MAX);
  }

  private foldIn(liked: readonly number[]): Float32Array | undefined {
    const { generation, coldItems } = this.inputs;
    return generation?.parts.als?.foldIn(withKnownLikes(coldItems, liked));
  }
}

/** These items, to be ranked for the user. */
export function proposalOf(match: Match, candidates: readonly number[]): Proposal {
  const { history, inputs, kind, liked, vector, sums } = match;
  const userLabels = () => inputs.labelsOf(history.userRow);
  return {
    candidates,
    liked,
    kind,
    userRow: history.modelRow,
    userLabels,
    vector,
    sums,
  };
}
