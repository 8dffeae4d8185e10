import type { Clock } from '../../domain/clock.ts';
import type { Ranked } from '../../memory/ranked-rows.ts';
import type { LocalReads } from '../../store/data-store.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { ItemFilter, type ItemWishes } from '../catalogue/item-filter.ts';
import type { KeptFilters } from '../placements/kept-filters.ts';
import { type Placement, withPins } from '../placements/placement.ts';
import type { ListQuery } from '../sources/recommender.ts';
import { AnswerBuilder } from './answer-builder.ts';
import { boosted } from './kind-proposals.ts';

/** Times as many items are asked for where caps may refuse some, or boosts may lift some. */
const SPARE_FACTOR = 4;

/** Makes lists that are of no user by the rules of a placement: those of a session, the neighbors of an item. */
export class PlacedLists {
  private readonly parts: {
    readonly reads: Pick<LocalReads, 'itemRow'>;
    readonly catalogue: Catalogue;
    readonly filters: KeptFilters;
    readonly clock: Clock;
  };

  constructor(parts: PlacedLists['parts']) {
    this.parts = parts;
  }

  /**
   * What ranks items, by the rules of a placement.
   * @param rank the best `k` that pass
   * @param mayShow false for a row that is never in such a list
   */
  async make(
    placement: Placement,
    { n, offset, categories, caller }: ListQuery,
    rank: (k: number, accept: (row: number) => boolean) => Promise<Ranked> | Ranked,
    mayShow: (row: number) => boolean,
  ): Promise<Ranked> {
    const { catalogue, reads, filters, clock } = this.parts;
    const most = Math.min(offset + n, placement.length);
    const mayPin = (row: number) =>
      catalogue.isListable(row) && catalogue.isInAll(row, categories) && mayShow(row);
    const pins = placement.pins(clock(), (itemId) => reads.itemRow(itemId), mayPin);
    const wishes: ItemWishes = {
      excluded: [...placement.excluded, ...pins.flatMap(({ row }) => catalogue.idAt(row) ?? [])],
      ...{ labels: [], notLabels: [], boosts: placement.boosts },
    };
    const wanted = [...categories, ...placement.categories];
    const rowOf = (itemId: string) => reads.itemRow(itemId);
    const passing = placement.filter && (await filters.of(placement.filter, caller?.signal));
    const filter = new ItemFilter(catalogue, wanted, wishes, rowOf, passing);
    const caps = placement.hasCaps ? placement.caps(catalogue) : undefined;
    const within = pins.filter(({ place }) => place <= most);
    for (const { row } of within) caps?.note(row);
    const answer = new AnswerBuilder(Math.max(0, most - within.length), caps);
    const k = answer.wanted * (placement.hasCaps || filter.hasBoosts ? SPARE_FACTOR : 1);
    const ranked = boosted(await rank(k, (row) => filter.accepts(row) && mayShow(row)), filter);
    answer.takeAll(ranked.rows, ranked.scores);
    if (pins.length > 0) answer.arrange(withPins(answer.rows, pins, most));
    return { rows: answer.rows, scores: answer.rows.map((row) => answer.scoreOf(row)) };
  }
}
