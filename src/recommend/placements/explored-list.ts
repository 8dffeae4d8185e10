import type { Random } from '../../domain/random.ts';

/** An item that may be shown to learn of it, and its share among those. */
export interface PoolEntry {
  readonly row: number;
  readonly share: number;
}

/** Chance by which an item stands at a place. */
export interface Chosen {
  /** Chance with which this item stands at this place, above 0. */
  readonly chance: number;
  /** True where the other ranking has it at this place. */
  readonly isOther: boolean;
  /** True where what the other ranking has at this place is never shown there. */
  readonly isNever: boolean;
}

export interface ExploredParts {
  /** The list without exploration. */
  readonly rows: readonly number[];
  /** True for a place, from 0, that may be given to another item. */
  readonly isFree: (at: number) => boolean;
  /** Items of which none stands in the list. */
  readonly pool: readonly PoolEntry[];
  /** Another ranking of which something is to be learned; undefined for none. */
  readonly other: readonly number[] | undefined;
  /** Share of all places that is given away; at most one place of a list. */
  readonly share: number;
  readonly random: Random;
}

/**
 * Gives at most one place of a list to another item: to one of the pool, drawn by its share, or, half of the time where there is another
 * ranking, to what that has at this place, which trades places with what stood there. With one change a list the chance of each item at
 * each place is known exactly, and with it what a ranking would have come to that was not shown.
 */
export function exploreList(parts: ExploredParts): { rows: number[]; chosen: Chosen[] } {
  const { rows: base, isFree, pool, other, share, random } = parts;
  const changed = [...base];
  const places = base.flatMap((_, at) => (isFree(at) ? [at] : []));
  const chances = new Chances(parts, places.length);
  const draws = [random.float(), random.float(), random.float()] as const;
  const at = places[Math.floor(draws[0] * places.length)];
  if (at !== undefined && draws[1] < chances.changes) {
    if (draws[2] < chances.ofPool) {
      let point = draws[2] / chances.ofPool;
      const entry = pool.find(({ share: own }) => (point -= own) < 0) ?? pool.at(-1)!;
      changed[at] = entry.row;
    } else if (chances.canTrade(at)) {
      const from = base.indexOf(other![at]!);
      changed[at] = other![at]!;
      if (from >= 0) changed[from] = base[at]!;
    }
  }
  const chosen = changed.map((row, place) => ({
    chance: chances.of(row, place),
    isOther: other !== undefined && other[place] === row,
    isNever: other !== undefined && chances.of(other[place], place) === 0,
  }));
  return { rows: share > 0 ? changed : [...base], chosen };
}

/** The chances of items at places. */
class Chances {
  /** Chance that a list is changed, and that it is by the pool then. */
  readonly changes: number;
  readonly ofPool: number;
  private readonly parts: ExploredParts;
  private readonly atPlace: number;
  private readonly placeOf: ReadonlyMap<number, number>;
  private readonly otherPlaceOf: ReadonlyMap<number, number>;
  private readonly shareOf: ReadonlyMap<number, number>;

  constructor(parts: ExploredParts, freePlaces: number) {
    const { rows, pool, other = [], share } = parts;
    this.parts = parts;
    this.changes = Math.min(1, share * rows.length);
    this.ofPool = pool.length === 0 ? 0 : parts.other === undefined ? 1 : 0.5;
    this.atPlace = this.changes / Math.max(1, freePlaces);
    this.placeOf = new Map(rows.map((row, at) => [row, at]));
    this.otherPlaceOf = new Map(other.slice(0, rows.length).map((row, at) => [row, at]));
    this.shareOf = new Map(pool.map((entry) => [entry.row, entry.share]));
  }

  /** True where the other ranking has something else at this place that may come there. */
  canTrade(at: number): boolean {
    const { rows, other, isFree } = this.parts;
    const row = other?.[at];
    if (row === undefined || row === rows[at] || !isFree(at)) return false;
    const from = this.placeOf.get(row);
    return from === undefined || isFree(from);
  }

  of(row: number | undefined, at: number): number {
    const { rows, other, isFree } = this.parts;
    if (row === undefined) return 0;
    const isBase = row === rows[at];
    if (!isFree(at)) return Number(isBase);
    const byTrade = (other === undefined ? 0 : 1 - this.ofPool) * this.atPlace;
    const byPool = this.ofPool * this.atPlace;
    // What stands here comes to the place that the other ranking gives it, and what stood there comes here.
    const to = this.otherPlaceOf.get(rows[at]!);
    const isTraded = to !== undefined && to !== at && this.canTrade(to);
    const leaves = byPool + byTrade * (Number(this.canTrade(at)) + Number(isTraded));
    const comes = Number(row === other?.[at] && this.canTrade(at)) + Number(isTraded && row === rows[to]);
    return Number(isBase) * (1 - leaves) + byPool * (this.shareOf.get(row) ?? 0) + byTrade * comes;
  }
}
