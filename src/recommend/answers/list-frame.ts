import type { LocalReads } from '../../store/data-store.ts';
import { ItemFilter, NO_WISHES } from '../catalogue/item-filter.ts';
import { type Placement, withPins } from '../placements/placement.ts';
import type { NearQuery } from '../sources/recommender.ts';
import { AnswerBuilder } from './answer-builder.ts';
import type { KindProposalsParts } from './kind-proposals.ts';

type FrameParts = Pick<KindProposalsParts, 'catalogue' | 'clock'> & {
  readonly reads: Pick<LocalReads, 'itemRow'>;
};
export type ListFrame = ReturnType<typeof frameOf>;

/**
 * The frame of a list by the rules of a placement: what may stand in it, and the pins that do.
 * @param placement of which the items are looked up @param passing bits of the rows that the placement's filter lets pass; undefined for all
 * @param mayShow false for a row that may never stand in it @param resting ids of items that may not stand in it now
 */
export function frameOf(
  { reads, catalogue, clock }: FrameParts,
  placement: Placement,
  passing: Uint32Array | undefined,
  { n, offset, categories, wishes = NO_WISHES }: NearQuery,
  mayShow: (row: number) => boolean,
  resting: readonly string[] = [],
) {
  const rowsOf = (itemIds: readonly string[]) => itemIds.map((itemId) => reads.itemRow(itemId));
  const unwanted = rowsOf(wishes.excluded);
  const own = placement.hasPins ? new ItemFilter(catalogue, categories, wishes, unwanted) : undefined;
  const mayPin = (row: number) => catalogue.isListable(row) && mayShow(row) && own!.accepts(row);
  const pins = own ? placement.pins(clock(), mayPin) : [];
  const excluded = [
    ...[...unwanted, ...placement.excludedRows(), ...rowsOf(resting)],
    ...pins.map(({ row }) => row),
  ];
  const boosts = [...wishes.boosts, ...placement.settings.boost];
  const filter = new ItemFilter(
    catalogue,
    [...categories, ...placement.settings.categories],
    { ...wishes, boosts },
    excluded,
    passing,
  );
  const most = Math.min(offset + n, placement.length);
  const within = pins.filter(({ place }) => place <= most);
  /** Entries beside the pins. */
  const wanted = Math.max(0, most - within.length);
  /** An answer that keeps to the caps, the pins counted. */
  const begin = (count = wanted) =>
    new AnswerBuilder(count, placement.hasCaps ? placement.caps(catalogue, within) : undefined);
  return { filter, pins, wanted, begin, withPins: (rows: readonly number[]) => withPins(rows, pins, most) };
}
