import { getOrPut } from '../../domain/get-or-put.ts';

/** What is counted of placements since the start. */
export type PlacementCountName = 'lists' | 'shown' | 'feedback';

/** Placements and variants that are told apart; those beyond are counted together. */
const NAMES_MAX = 100;
const OTHERS = '';

/** Counts of lists answered, items seen and feedback that named its list, by placement and variant, for the metrics. */
export class PlacementCounts {
  private readonly byName = new Map<string, Record<PlacementCountName, number>>();

  note(what: PlacementCountName, placement: string, variant: string, count = 1): void {
    const name = `${placement}\n${variant}`;
    const known = this.byName.has(name) || this.byName.size < NAMES_MAX ? name : OTHERS;
    getOrPut(this.byName, known, () => ({ lists: 0, shown: 0, feedback: 0 }))[what] += count;
  }

  /** The counts with their labels. */
  read(what: PlacementCountName): { labels: { placement: string; variant: string }; value: number }[] {
    return Array.from(this.byName, ([name, counts]) => {
      const [placement = '', variant = ''] = name.split('\n');
      return { labels: { placement, variant }, value: counts[what] };
    });
  }
}
