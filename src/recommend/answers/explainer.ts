import type { Explanation } from '../../domain/api-schemas.ts';
import { titleOf } from '../../domain/entities.ts';
import { RECOMMENDERS, type RecommenderName } from '../../domain/recommenders.ts';
import { formatTimestamp } from '../../domain/rfc3339.ts';
import { BoundedQueue } from '../../platform/concurrency/bounded-queue.ts';
import { inTurns, turns } from '../../platform/concurrency/event-loop-turns.ts';
import type { LocalReads } from '../../store/data-store.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { TypeTest } from '../history/counts-as-positive.ts';
import type { Histories } from '../history/histories.ts';
import type { History } from '../history/history.ts';
import { shownOfList } from '../history/read-items.ts';
import { FOLD_IN_LIKES_MAX } from '../lists/maker/candidate-finder.ts';
import type { ScoreParts } from '../lists/maker/explain-score.ts';
import type { ListMaker } from '../lists/maker/list-maker.ts';
import type { GenerationSlot } from '../models/generation-slot.ts';
import type { Recommender } from '../sources/recommender.ts';
import type { Caller, Sources } from '../sources/source.ts';
import { groupsOf, meaningOf, type ReasonParts } from './reasons.ts';

/** Number of the user's items that are named. */
const CONTRIBUTIONS_MAX = 10;
/** Items most like one that is not recommended, in one way and another, whose likes are compared, and the best that are tried. */
const [LIKES_COMPARED, LIKES_TRIED] = [8, 3];
/** Of who likes more than this one more like is not tried: it changes little, and takes long. */
const LIKES_OF_TRIED = 500;
/** An item has to come among so much of the list: what the like itself changes in live counts may move it a little. */
const SURE_SHARE = 0.9;
/** More people are no advice. */
const PEOPLE_MAX = 1_000_000;
/** Explanations that are tried before the first question: code that runs for the first time takes ten times as long. */
const REHEARSALS = 12;
/** Explanations at work at most: each holds the user's feedback for many turns. */
const AT_WORK_MAX = 4;

export interface ExplainQuery {
  /** The item is recommended when it stands among the first `n`. */
  readonly n: number;
  readonly categories: readonly string[];
  readonly caller?: Caller | undefined;
}

/** Says why an item is recommended to a user, or why it is not. */
export class Explainer {
  private readonly parts: {
    readonly reads: LocalReads;
    readonly catalogue: Catalogue;
    readonly histories: Histories;
    readonly sources: Sources;
    readonly maker: ListMaker;
    readonly generations: GenerationSlot;
    readonly isPositive: TypeTest;
    readonly live: ReasonParts['live'];
    /** True when lists hold read items on purpose. */
    readonly replacesRead: boolean;
    readonly recommender: Recommender;
    /** The recommenders that are asked once a list is used up. */
    readonly fallbacks: readonly RecommenderName[];
  };

  private readonly queue = new BoundedQueue({ atWorkMax: AT_WORK_MAX, refusedFor: 'explanations' });

  private readonly closing = new AbortController();
  private rehearsed: Promise<void> | undefined;

  constructor(parts: Explainer['parts']) {
    this.parts = parts;
  }

  /** Explains to a few people, for nobody, once there is a model: then the first question takes no longer than others. */
  async rehearse(): Promise<void> {
    this.rehearsed ??= this.rehearseAll().catch((error: unknown) => {
      if (!this.closing.signal.aborted) throw error;
    });
    await this.rehearsed;
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.rehearsed?.catch(() => {});
  }

  private async rehearseAll(): Promise<void> {
    const { reads, catalogue } = this.parts;
    const query = { n: 1, categories: [], caller: this.closing };
    for (let at = 0; at < REHEARSALS; at++) {
      await nextTurn(query.caller);
      const userId = reads.userIdAt(Math.floor((at * reads.userRowCount) / REHEARSALS));
      const itemId = catalogue.idAt(Math.floor((at * catalogue.rowCount) / REHEARSALS));
      const last = catalogue.idAt(catalogue.rowCount - 1 - at);
      if (userId !== undefined && itemId !== undefined && last !== undefined)
        await this.explained(userId, itemId, query, [last]);
    }
  }

  /**
   * @returns undefined when there is no such item
   * @throws FurzeError OVERLOADED when too many explanations wait; the reason of the caller's signal once it is aborted
   */
  async explain(userId: string, itemId: string, query: ExplainQuery): Promise<Explanation | undefined> {
    if (this.parts.reads.itemRow(itemId) < 0) return undefined;
    const { caller } = query;
    return this.queue.run(async () => {
      const { text } = await this.parts.recommender.recommend(userId, { ...query, offset: 0 });
      await nextTurn(caller);
      return this.explained(userId, itemId, query, JSON.parse(text) as string[]);
    }, caller?.signal);
  }

  /** @param list the first of what is recommended to the user */
  private async explained(
    userId: string,
    itemId: string,
    { caller, ...query }: ExplainQuery,
    list: readonly string[],
  ): Promise<Explanation | undefined> {
    const { reads, histories, maker } = this.parts;
    await inTurns(maker.warm(), caller?.signal);
    const itemRow = reads.itemRow(itemId);
    if (itemRow < 0) return undefined;
    const Rank = list.indexOf(itemId);
    return histories.use(reads.userRow(userId), async (history) => {
      const WhyNot = Rank < 0 && { WhyNot: this.whyNot(history, itemRow, query.categories) };
      await nextTurn(caller);
      const last = Rank < 0 && list.length > 0 ? reads.itemRow(list.at(-1)!) : -1;
      const asked = [itemRow, ...(last < 0 ? [] : [last])];
      // Likes that come meanwhile move the ranking: what adds up and is compared is of one moment.
      const parts = await inTurns(maker.partsOf(history, asked), caller?.signal);
      await nextTurn(caller);
      const [Score, CutScore] = parts?.scores ?? asked.map((row) => maker.scoreOf(history, row));
      const isBelow = last >= 0 && WhyNot && WhyNot.WhyNot?.Reason === 'below_the_cut';
      const Lift = isBelow && { Lift: await this.lift(history, [itemRow, last], { ...query, caller }) };
      const Recommenders = await this.proposals(history, itemRow, caller);
      await nextTurn(caller);
      const answered = { UserId: userId, ItemId: itemId, Recommended: Rank >= 0, Rank };
      const Contributions = this.named(parts?.likes ?? (await this.pulls(history, itemRow, caller)));
      return {
        ...answered,
        ...WhyNot,
        ...(Score !== undefined && { Score }),
        ...(CutScore !== undefined && { CutScore }),
        ...Lift,
        ...this.sum(parts, itemRow),
        Recommenders,
        Contributions,
        Titles: this.titles([
          itemId,
          ...Contributions.map(({ ItemId }) => ItemId),
          ...(Lift ? (Lift.Lift?.Likes ?? []) : []),
        ]),
      };
    });
  }

  private titles(itemIds: readonly string[]): Explanation['Titles'] {
    const { reads } = this.parts;
    // An id that is left out could be found in the prototype: `constructor`.
    return Object.fromEntries(itemIds.map((id) => [id, titleOf(reads.findItem(id)?.Comment ?? '')]));
  }

  /** Changes that would lift an item above the last of the list: likes of similar items, each tried in a turn of its own, and people who like it. */
  private async lift(
    history: History,
    [itemRow, last]: readonly [number, number],
    { n, categories, caller }: ExplainQuery,
  ): Promise<Explanation['Lift']> {
    const { maker, catalogue, generations, live, isPositive } = this.parts;
    const isTried = history.positiveRows(isPositive, LIKES_OF_TRIED + 1).length <= LIKES_OF_TRIED;
    const { itemNeighbors, itemKnn } = isTried ? generations.current.parts : {};
    const near = [itemNeighbors, itemKnn].flatMap((lists) =>
      Array.from(lists?.neighborsAt(itemRow).rows ?? [])
        .filter((row) => maker.accepts(row, history))
        .slice(0, LIKES_COMPARED),
    );
    const leads: { readonly row: number; readonly lead: number }[] = [];
    for (const row of new Set(near)) {
      await nextTurn(caller);
      const lead = maker.leadWithLike(history, row, [itemRow, last]);
      if (lead > 0) leads.push({ row, lead });
    }
    const Likes: string[] = [];
    for (const { row } of leads.sort((a, b) => b.lead - a.lead).slice(0, LIKES_TRIED)) {
      await nextTurn(caller);
      const list = maker.listWithLike(history, row).filter((each) => catalogue.isInAll(each, categories));
      const rank = list.indexOf(itemRow);
      const ItemId = catalogue.idAt(row);
      if (rank >= 0 && rank < Math.max(1, Math.floor(SURE_SHARE * n)) && ItemId !== undefined)
        Likes.push(ItemId);
    }
    await nextTurn(caller);
    const People = maker.likesUntilAbove(history, [itemRow, last], live.popularity.totals(), PEOPLE_MAX);
    return { Likes, ...(People !== undefined && { People }) };
  }

  /** The sum that makes the score, the largest part first behind the base. */
  private sum(parts: ScoreParts | undefined, itemRow: number): Pick<Explanation, 'Parts'> {
    if (parts === undefined) return {};
    const base = { Name: 'base', Meaning: "what the user's candidates have on the mean", Score: parts.base };
    const sums = Array.from(groupsOf(parts.parts), ([Name, Score]) => {
      return { Name, Meaning: meaningOf(Name, itemRow, this.parts.live), Score };
    });
    return { Parts: [base, ...sums.sort((a, b) => Math.abs(b.Score) - Math.abs(a.Score))] };
  }

  private whyNot(history: History, itemRow: number, categories: readonly string[]): Explanation['WhyNot'] {
    const { catalogue, replacesRead } = this.parts;
    if (catalogue.isHidden(itemRow)) return { Reason: 'hidden' };
    if (!catalogue.isListable(itemRow)) return { Reason: 'out_of_date' };
    if (!shownOfList(history, replacesRead)(itemRow))
      return { Reason: 'read', ReadAt: formatTimestamp(history.readAtMs(itemRow)!) };
    if (!catalogue.isInAll(itemRow, categories)) return { Reason: 'not_in_category' };
    return { Reason: 'below_the_cut' };
  }

  /** Every recommender in use that can score the item for the user, asked for this item alone, each in a turn of its own. */
  private async proposals(
    history: History,
    itemRow: number,
    caller: Caller | undefined,
  ): Promise<Explanation['Recommenders']> {
    const found: { Name: string; Score: number }[] = [];
    const accept = (row: number) => row === itemRow;
    const among: ReadonlySet<number> = new Set([itemRow]);
    for (const name of RECOMMENDERS) {
      if (!this.parts.maker.uses(name) && !this.parts.fallbacks.includes(name)) continue;
      await nextTurn(caller);
      const asked = { history, k: 1, accept, among, categories: [], caller };
      const ranked = await this.parts.sources[name].rank(asked);
      if (ranked.rows[0] === itemRow) found.push({ Name: name, Score: ranked.scores[0]! });
    }
    return found;
  }

  /** Parts of the collaborative score, by like. */
  private async pulls(
    history: History,
    itemRow: number,
    caller: Caller | undefined,
  ): Promise<ReadonlyMap<number, number>> {
    const { generations, isPositive } = this.parts;
    const liked = history.positiveRows(isPositive, FOLD_IN_LIKES_MAX);
    const model = generations.current.parts.als;
    const parts = (model && (await inTurns(model.decompose(liked, itemRow), caller?.signal)))?.parts ?? [];
    return new Map(parts.map((part) => [part.itemRow, part.score]));
  }

  /** The likes that add most, named. */
  private named(likes: ReadonlyMap<number, number>): Explanation['Contributions'] {
    const pull = [...likes.values()].reduce((sum, score) => sum + Math.abs(score), 0);
    if (pull === 0) return [];
    return [...likes]
      .sort(([rowA, a], [rowB, b]) => b - a || rowA - rowB)
      .slice(0, CONTRIBUTIONS_MAX)
      .map(([row, Score]) => ({ ItemId: this.parts.catalogue.idAt(row) ?? '', Score, Share: Score / pull }))
      .filter((part) => part.ItemId !== '');
  }
}

/** @throws the signal's reason where nobody waits for the answer any more */
async function nextTurn(caller: Caller | undefined): Promise<void> {
  await turns.take();
  caller?.signal.throwIfAborted();
}
