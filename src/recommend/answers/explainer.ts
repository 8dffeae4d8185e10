import type { Explanation } from '../../domain/api-schemas.ts';
import { RECOMMENDERS } from '../../domain/recommenders.ts';
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
import type { ListMaker } from '../lists/maker/list-maker.ts';
import type { GenerationSlot } from '../models/generation-slot.ts';
import type { Recommender } from '../sources/recommender.ts';
import type { Caller, Sources } from '../sources/source.ts';

/** Number of the user's items that are named. */
const CONTRIBUTIONS_MAX = 10;
/** Explanations at work at most: each holds the user's feedback for many turns. */
const AT_WORK_MAX = 4;
/** Explanations that wait at most; more are refused. */
const WAITING_MAX = 64;

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
    /** True when lists hold read items on purpose. */
    readonly replacesRead: boolean;
    readonly recommender: Recommender;
  };

  private readonly queue = new BoundedQueue({
    atWorkMax: AT_WORK_MAX,
    waitingMax: WAITING_MAX,
    refusedFor: 'explanations',
  });

  constructor(parts: Explainer['parts']) {
    this.parts = parts;
  }

  /**
   * @returns undefined when there is no such item
   * @throws FurzeError OVERLOADED when too many explanations wait; the reason of the caller's signal once it is aborted
   */
  async explain(userId: string, itemId: string, query: ExplainQuery): Promise<Explanation | undefined> {
    if (this.parts.reads.itemRow(itemId) < 0) return undefined;
    return this.queue.run(() => this.explained(userId, itemId, query), query.caller?.signal);
  }

  private async explained(
    userId: string,
    itemId: string,
    query: ExplainQuery,
  ): Promise<Explanation | undefined> {
    const { reads, recommender, histories } = this.parts;
    const { caller, categories } = query;
    const list = JSON.parse(await recommender.recommend(userId, { ...query, offset: 0 })) as string[];
    await nextTurn(caller);
    const itemRow = reads.itemRow(itemId);
    if (itemRow < 0) return undefined;
    const Rank = list.indexOf(itemId);
    return histories.use(reads.userRow(userId), async (history) => {
      const WhyNot = Rank < 0 && { WhyNot: this.whyNot(history, itemRow, categories) };
      await nextTurn(caller);
      const Score = this.score(history, itemRow);
      const Recommenders = await this.proposals(history, itemRow, caller);
      await nextTurn(caller);
      const Contributions = await this.contributions(history, itemRow, caller);
      const answered = { UserId: userId, ItemId: itemId, Recommended: Rank >= 0, Rank };
      return { ...answered, ...WhyNot, ...Score, Recommenders, Contributions };
    });
  }

  private score(history: History, itemRow: number): { Score?: number } {
    const Score = this.parts.maker.scoreOf(history, itemRow);
    return Score === undefined ? {} : { Score };
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

  /** Every recommender that can score the item for the user, asked for this item alone, each in a turn of its own. */
  private async proposals(
    history: History,
    itemRow: number,
    caller: Caller | undefined,
  ): Promise<Explanation['Recommenders']> {
    const found: { Name: string; Score: number }[] = [];
    const accept = (row: number) => row === itemRow;
    const among: ReadonlySet<number> = new Set([itemRow]);
    for (const name of RECOMMENDERS) {
      await nextTurn(caller);
      const asked = { history, k: 1, accept, among, categories: [], caller };
      const ranked = await this.parts.sources[name].rank(asked);
      if (ranked.rows[0] === itemRow) found.push({ Name: name, Score: ranked.scores[0]! });
    }
    return found;
  }

  private async contributions(
    history: History,
    itemRow: number,
    caller: Caller | undefined,
  ): Promise<Explanation['Contributions']> {
    const { generations, isPositive, catalogue } = this.parts;
    const liked = history.positiveRows(isPositive, FOLD_IN_LIKES_MAX);
    const model = generations.current?.parts.als;
    const parts = (model && (await inTurns(model.decompose(liked, itemRow), caller?.signal)))?.parts ?? [];
    const pull = parts.reduce((sum, part) => sum + Math.abs(part.score), 0);
    if (pull === 0) return [];
    return [...parts]
      .sort((a, b) => b.score - a.score || a.itemRow - b.itemRow)
      .slice(0, CONTRIBUTIONS_MAX)
      .map((part) => ({
        ItemId: catalogue.idAt(part.itemRow) ?? '',
        Score: part.score,
        Share: part.score / pull,
      }))
      .filter((part) => part.ItemId !== '');
  }
}

/** @throws the signal's reason where nobody waits for the answer any more */
async function nextTurn(caller: Caller | undefined): Promise<void> {
  await turns.take();
  caller?.signal.throwIfAborted();
}
