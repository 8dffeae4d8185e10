import type { RecommenderName } from '../../domain/recommenders.ts';
import { turns } from '../../platform/concurrency/event-loop-turns.ts';
import type { ItemFilter } from '../catalogue/item-filter.ts';
import type { ListMaker } from '../lists/maker/list-maker.ts';
import type { Ask, Sources } from '../sources/source.ts';
import type { AnswerBuilder } from './answer-builder.ts';
import type { AnswerCounts } from './answer-counts.ts';

/** The recommenders that are asked once a user's list is used up, in the order of `[recommend.online] fallback_recommend`. */
export class Fallbacks {
  private readonly order: readonly RecommenderName[];
  private readonly sources: Sources;
  private readonly maker: ListMaker;
  private readonly counts: AnswerCounts;

  constructor(order: readonly RecommenderName[], sources: Sources, maker: ListMaker, counts: AnswerCounts) {
    this.order = order;
    this.sources = sources;
    this.maker = maker;
    this.counts = counts;
  }

  /**
   * Asks one after the other for what the answer lacks, until nothing is missing.
   * @param filter what the question wants of the items
   * @param order recommenders in place of those configured
   * @returns those that had something for it
   */
  async fill(
    answer: AnswerBuilder,
    ask: Omit<Ask, 'k'>,
    filter: ItemFilter | undefined,
    order: readonly RecommenderName[] = this.order,
  ): Promise<readonly RecommenderName[]> {
    const { sources, maker, counts } = this;
    if (answer.rows.length === 0 && answer.missing > 0) counts.withoutList++;
    const filled: RecommenderName[] = [];
    for (const name of order) {
      const { missing } = answer;
      // An answer may refuse some of what it is given; what it has room for comes with the next.
      for (let before = -1; answer.missing > 0 && before < answer.rows.length; ) {
        before = answer.rows.length;
        const k = filter?.hasBoosts ? maker.wholeLists(answer.missing) : answer.missing;
        const ranked = await sources[name].rank({ ...ask, k });
        if (answer.isLong) await turns.take();
        if (filter?.hasBoosts) await answer.takeAll(maker.boosted(ranked, filter), undefined, name);
        else await answer.takeAll(ranked.rows, ranked.scores, name);
        if (ranked.rows.length < k) break;
      }
      if (answer.missing === missing) continue;
      counts.noteFilled(name);
      filled.push(name);
    }
    return filled;
  }
}
