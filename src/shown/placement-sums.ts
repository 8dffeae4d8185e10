import { getOrPut } from '../domain/get-or-put.ts';
import type { Figures, PlacementOutcome } from '../domain/placement-schemas.ts';
import { formatTimestamp } from '../domain/rfc3339.ts';
import type { SeenList } from './attribution.ts';

const DAY_MS = 86_400_000;
/** Places that are told one by one. */
const PLACES_MAX = 20;

const NONE = { Lists: 0, Users: 0, Shown: 0, Clicked: 0, Named: 0, InWindow: 0, Converted: 0, Beyond: 0 };

/** Figures that are added up. */
class Sums {
  readonly counts = { ...NONE };
  private readonly byType = new Map<string, { Type: string; Count: number; Value: number }>();

  add(
    { seen, outcomes }: SeenList,
    clicked: number,
    beyond: number,
    values: ReadonlyMap<object, number>,
  ): void {
    const { counts } = this;
    counts.Lists++;
    counts.Beyond += beyond;
    counts.Shown += seen.size;
    counts.Clicked += clicked;
    for (const outcome of outcomes) {
      counts[outcome.isNamed ? 'Named' : 'InWindow']++;
      const sums = getOrPut(this.byType, outcome.kind, () => ({ Type: outcome.kind, Count: 0, Value: 0 }));
      sums.Count++;
      sums.Value += values.get(outcome) ?? 0;
    }
  }

  get figures(): Figures {
    return { ...this.counts, Feedback: [...this.byType.values()].sort((a, b) => b.Count - a.Count) };
  }
}

/** Sums of one placement and variant. */
class OutcomeSums {
  private readonly all = new Sums();
  private readonly days = new Map<number, Sums>();
  private readonly items = new Set<number>();
  private readonly places = Array.from({ length: PLACES_MAX }, (_, at) => ({
    Place: at + 1,
    Shown: 0,
    Clicked: 0,
  }));

  /** @param seenBy the sums that the user of the list stands in already, and with feedback; those of this one are added */
  add(
    list: SeenList,
    values: ReadonlyMap<object, number>,
    seenBy: { readonly users: Set<object>; readonly converted: Set<object> },
    isPopular: (row: number) => boolean,
  ): void {
    const day = getOrPut(this.days, Math.floor(list.shownMs / DAY_MS) * DAY_MS, () => new Sums());
    const clicked = new Set(list.outcomes.map(({ itemRow }) => itemRow));
    let beyond = 0;
    for (const row of list.seen.keys()) if (!isPopular(row)) beyond++;
    for (const sums of [this.all, day]) {
      sums.add(list, clicked.size, beyond, values);
      if (!seenBy.users.has(sums)) sums.counts.Users++;
      seenBy.users.add(sums);
      if (list.outcomes.length === 0) continue;
      if (!seenBy.converted.has(sums)) sums.counts.Converted++;
      seenBy.converted.add(sums);
    }
    for (const [row, { place }] of list.seen) {
      this.items.add(row);
      const sums = this.places[place - 1];
      if (sums === undefined) continue;
      sums.Shown++;
      if (clicked.has(row)) sums.Clicked++;
    }
  }

  get outcome(): Omit<PlacementOutcome, 'Placement' | 'Variant'> {
    return {
      ...this.all.figures,
      Items: this.items.size,
      Places: this.places.filter(({ Shown }) => Shown > 0),
      Days: Array.from(this.days)
        .sort(([a], [b]) => a - b)
        .map(([dayMs, sums]) => ({ Day: formatTimestamp(dayMs).slice(0, 10), ...sums.figures })),
    };
  }
}

/** Results of the lists of all placements and variants, by the day on which they were seen. */
export class PlacementSums {
  private readonly byName = new Map<string, OutcomeSums>();
  private readonly isPopular: (row: number) => boolean;

  /** @param isPopular true for an item that is among the popular ones now */
  constructor(isPopular: (row: number) => boolean) {
    this.isPopular = isPopular;
  }

  /** Adds all lists of one user, with pauses. @param values the Value of outcomes that have one */
  *add(lists: readonly SeenList[], values: ReadonlyMap<object, number>): Generator<undefined, void> {
    const seenBy = { users: new Set<object>(), converted: new Set<object>() };
    for (const list of lists) {
      yield;
      if (list.seen.size === 0) continue;
      getOrPut(this.byName, `${list.placement}\n${list.variant}`, () => new OutcomeSums()).add(
        list,
        values,
        seenBy,
        this.isPopular,
      );
    }
  }

  /** By the names of placement and variant. */
  get outcomes(): PlacementOutcome[] {
    return Array.from(this.byName)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, sums]) => {
        const [Placement = '', Variant = ''] = name.split('\n');
        return { Placement, Variant, ...sums.outcome };
      });
  }
}
