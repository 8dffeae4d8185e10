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
   */
  async fill(answer: AnswerBuilder, ask: Omit<Ask, 'k'>, filter: ItemFilter | undefined): Promise<void> {
    const { order, sources, maker, counts } = this;
    if (answer.rows.length === 0 && answer.missing > 0) counts.withoutList++;
    for (const name of order) {
      if (answer.missing === 0) return;
      const { missing } = answer;
      const k = filter?.hasBoosts ? maker.wholeLists(answer.missing) : answer.missing;
      const ranked = await sources[name].rank({ ...ask, k });
      if (answer.isLong) await turns.take();
      if (filter?.hasBoosts) answer.takeAll(maker.boosted(ranked, filter));
      else answer.takeAll(ranked.rows, ranked.scores);
      if (answer.missing < missing) counts.noteFilled(name);
    }
  }
}
