import type { Config } from '../../config/config.ts';
import { type FilterTree, parseFilter } from '../../domain/filter-tree.ts';
import type { RecommenderName } from '../../domain/recommenders.ts';
import { parseTimestamp } from '../../domain/rfc3339.ts';
import type { ShownRecord } from '../../store/shown-log.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { ShownCounts } from './shown-counts.ts';
import { passedOver } from './tired-items.ts';

const HOUR_MS = 3_600_000;

type Settings = Config['placement'][string];

/** Numbers of rules; by the time that one comes again, what was kept under it is long forgotten. */
const NUMBERS = 2 ** 20;
let nextNumber = 0;

/** An item that stands at a place of its own. */
export interface Pin {
  readonly row: number;
  /** From 1. */
  readonly place: number;
}

/** The rules of one named place on a page. */
export class Placement {
  /** Most entries that it shows; Infinity for as many as are asked for. */
  readonly length: number;
  /** Recommenders in place of the configured fallbacks; undefined for those. */
  readonly fallbacks: readonly RecommenderName[] | undefined;
  /** Tells these rules from all others since the start. */
  readonly number: number;
  /** Undefined where all items pass. */
  readonly filter: FilterTree | undefined;
  /** The same for items that are new, where a share of the list is theirs; undefined for none. */
  readonly newFilter: FilterTree | undefined;
  private readonly pinned: readonly { readonly itemId: string; readonly place: number; untilMs: number }[];
  private readonly pinnedIds: ReadonlySet<string | undefined>;
  /** Rows of the items that are pinned or left out, as they were looked up last; -1 for an item that is not there. */
  private readonly rows = new Map<string, number>();
  /** Version of the catalogue as of which the rows are known. */
  private rowsAsOf = -1;
  readonly settings: Settings;

  constructor(settings: Settings) {
    this.settings = settings;
    this.number = nextNumber;
    nextNumber = (nextNumber + 1) % NUMBERS;
    this.length = settings.length || Number.POSITIVE_INFINITY;
    const isForUser = settings.kind === 'for-you' || settings.kind === 'new';
    this.fallbacks = settings.fallback.length > 0 || !isForUser ? settings.fallback : undefined;
    const filter = parseFilter(settings.filter);
    const newOnes = bothOf(filter, newFor(settings));
    this.filter = settings.kind === 'new' ? newOnes : filter;
    this.newFilter = settings.new_share > 0 ? newOnes : undefined;
    const excluded = new Set(settings.exclude);
    this.pinned = settings.pins
      .filter(({ item }) => !excluded.has(item))
      .map(({ item, place, until }) => ({
        itemId: item,
        place,
        untilMs: until === undefined ? Number.POSITIVE_INFINITY : parseTimestamp(until),
      }))
      .sort((a, b) => a.place - b.place);
    this.pinnedIds = new Set(this.pinned.map(({ itemId }) => itemId));
  }

  /** True where the list is of a kind that `KindLists` makes. */
  get isOfKind(): boolean {
    const { kind, recommenders, new_share } = this.settings;
    return (kind !== 'for-you' && kind !== 'new') || recommenders.length > 0 || new_share > 0;
  }

  /** Name of what makes the list. */
  get source(): string {
    const { kind, recommenders } = this.settings;
    return kind === 'for-you' || kind === 'new' ? (recommenders[0] ?? 'personal') : kind;
  }

  /** Share of its weight that popularity loses; undefined for as much as elsewhere. */
  get discovery(): number | undefined {
    const { discovery } = this.settings;
    return discovery < 0 ? undefined : discovery;
  }

  get hasPins(): boolean {
    return this.pinned.length > 0;
  }

  isPinned(itemId: string | undefined): boolean {
    return this.pinnedIds.has(itemId);
  }

  /**
   * Looks up the items that are pinned or left out, where items have come or gone since it was last done. Pauses after each.
   * @param rowOf looks an item up in the store
   */
  *lookUp(catalogue: Catalogue, rowOf: (itemId: string) => number): Generator<undefined, void> {
    const { version } = catalogue;
    if (version === this.rowsAsOf) return;
    for (const { itemId } of this.pinned) yield* this.lookUpItem(itemId, catalogue, rowOf);
    for (const itemId of this.settings.exclude) yield* this.lookUpItem(itemId, catalogue, rowOf);
    this.rowsAsOf = version;
  }

  private *lookUpItem(
    itemId: string,
    catalogue: Catalogue,
    rowOf: (itemId: string) => number,
  ): Generator<undefined, void> {
    const row = this.rows.get(itemId) ?? -1;
    if (row >= 0 && catalogue.idAt(row) === itemId) return;
    this.rows.set(itemId, rowOf(itemId));
    yield;
  }

  /** Rows of the items that are left out, as they were looked up last; -1 for one that is not there. */
  excludedRows(): number[] {
    return this.settings.exclude.map((itemId) => this.rows.get(itemId) ?? -1);
  }

  get hasCaps(): boolean {
    return this.settings.max_per_label > 0 || this.settings.max_per_category > 0;
  }

  /** True where the list goes by what is learned of the log of impressions. */
  get learns(): boolean {
    return this.settings.explore > 0 || this.settings.rotate;
  }

  /** True where items rest or sink that the user has seen. */
  get tires(): boolean {
    return this.settings.tired_after > 0 || this.settings.rotate;
  }

  /**
   * Factors by row of the items that sink for a user, 0 for those that rest.
   * @param name of this placement @param records what the user was shown, by time
   * @param factors learned factors by the number of times that an item was passed over; undefined for none
   */
  sinking(
    name: string,
    records: readonly ShownRecord[],
    factors: readonly number[] | undefined,
    nowMs: number,
  ): Map<number, number> {
    const { tired_after: after, tired_hours } = this.settings;
    const rules = { placement: name, sinceMs: nowMs - tired_hours * HOUR_MS };
    const factorOf = (times: number) =>
      factors === undefined
        ? Number(after === 0 || times < after)
        : factors[Math.min(times, factors.length - 1)]!;
    const all = Array.from(passedOver(records, rules), ([row, times]) => [row, factorOf(times)] as const);
    return new Map(all.filter(([, factor]) => factor < 1));
  }

  /** True where an answer holds until the user, the pins or the catalogue change. */
  get isSteady(): boolean {
    return !this.tires && this.settings.explore === 0 && !this.isOfKind;
  }

  /** Until when the pins of now stay, milliseconds. */
  pinsUntilMs(nowMs: number): number {
    const ends = this.pinned.map(({ untilMs }) => untilMs).filter((untilMs) => untilMs > nowMs);
    return Math.min(Number.POSITIVE_INFINITY, ...ends);
  }

  /** The pins of now in the order of their places. @param mayShow false for a row that may not stand in the answer */
  pins(nowMs: number, mayShow: (row: number) => boolean): Pin[] {
    return this.pinned.flatMap(({ itemId, place, untilMs }) => {
      const row = nowMs < untilMs ? (this.rows.get(itemId) ?? -1) : -1;
      return row >= 0 && mayShow(row) ? [{ row, place }] : [];
    });
  }

  /** A count that refuses a row where as many as may be have one of its labels or categories; one for each answer. */
  caps(catalogue: Catalogue, pins: readonly Pin[]): ShownCounts {
    const { max_per_label, max_per_category, cap_window } = this.settings;
    const caps = [
      { most: max_per_label, namesAt: (row: number) => catalogue.labelsAt(row) },
      { most: max_per_category, namesAt: (row: number) => catalogue.categoriesAt(row) },
    ];
    return new ShownCounts(caps, cap_window || Number.POSITIVE_INFINITY, pins);
  }
}

/** The filter of items that are new by the settings of a placement. */
function newFor({ new_days }: Settings): FilterTree {
  return { kind: 'ageDays', between: { gt: Number.NEGATIVE_INFINITY, lt: new_days } };
}

function bothOf(filter: FilterTree | undefined, other: FilterTree): FilterTree {
  return filter === undefined ? other : { kind: 'and', parts: [filter, other] };
}

/** The rows of an answer with the pins at their places, those that lie beyond its end after the last. */
export function withPins(rows: readonly number[], pins: readonly Pin[], most: number): number[] {
  const all: number[] = [];
  let next = 0;
  for (const row of rows) {
    while (next < pins.length && pins[next]!.place <= all.length + 1) all.push(pins[next++]!.row);
    all.push(row);
  }
  for (; next < pins.length; next++) all.push(pins[next]!.row);
  return all.slice(0, most);
}
