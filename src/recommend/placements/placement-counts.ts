import { getOrPut } from '../../domain/get-or-put.ts';

/** Counts of placements since the start. */
export type PlacementCountName = 'lists' | 'shown' | 'feedback';

/** Placements and variants that are told apart; those beyond are counted together. */
const NAMES_MAX = 100;
const OTHERS = '';

/** Counts of lists answered, items seen and feedback that named its list, by placement and variant, for the metrics. */
export class PlacementCounts {
  private readonly byPlacement = new Map<string, Map<string, Record<PlacementCountName, number>>>();
  private names = 0;

  note(what: PlacementCountName, placement: string, variant: string, count = 1): void {
    const known = this.byPlacement.get(placement)?.get(variant);
    if (known !== undefined) known[what] += count;
    else if (this.names >= NAMES_MAX && placement !== OTHERS) this.note(what, OTHERS, OTHERS, count);
    else {
      this.names++;
      const counts = { lists: 0, shown: 0, feedback: 0, [what]: count };
      getOrPut(this.byPlacement, placement, () => new Map()).set(variant, counts);
    }
  }

  /** The counts with their labels. */
  read(what: PlacementCountName): { labels: { placement: string; variant: string }; value: number }[] {
    return Array.from(this.byPlacement).flatMap(([placement, variants]) =>
      Array.from(variants, ([variant, counts]) => ({ labels: { placement, variant }, value: counts[what] })),
    );
  }
}
