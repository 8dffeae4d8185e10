import { FurzeError } from '../../domain/furze-error.ts';
import { isByLabels, type NeighborType } from '../../domain/neighbor-type.ts';
import { filterRanked, NOTHING, type Ranked } from '../../memory/ranked-rows.ts';
import { NEIGHBORS_MIN } from '../../model/neighbors/train-and-serve-items.ts';
import { BoundedQueue } from '../../platform/concurrency/bounded-queue.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { GenerationSlot } from '../models/generation-slot.ts';
import type { Relation } from './neighbors-from-store.ts';
import { similarRowsInTurns } from './similar-rows.ts';
import type { SinceFit } from './since-fit.ts';

/** Finds related rows aside (in a worker); at most `k`, best first. */
export type FindRelated = (
  relation: Relation,
  row: number,
  k: number,
  signal?: AbortSignal,
) => Promise<Ranked>;

/** Neighbors longer than this are not looked for. */
export const NEIGHBORS_MAX = 10_000;

/** Searches by labels at work at the same time, which hold some bytes an item each. */
const SEARCHES_MAX = 16;

/**
 * Items like an item: out of what the last fit compared ahead, and beyond that worked out now, by labels out of the
 * catalogue or by common users through `findRelated`. An item that changed since the fit is always worked out.
 */
export class ItemNeighbors {
  private readonly catalogue: Catalogue;
  private readonly generations: GenerationSlot;
  private readonly type: NeighborType;
  private readonly findRelated: FindRelated;
  private readonly sinceFit: SinceFit;
  private readonly likesOf: (row: number) => number;
  private readonly queue = new BoundedQueue({ atWorkMax: SEARCHES_MAX, refusedFor: 'neighbors' });

  /** @param likesOf how much positive feedback an item has */
  constructor(
    catalogue: Catalogue,
    generations: GenerationSlot,
    type: NeighborType,
    findRelated: FindRelated,
    sinceFit: SinceFit,
    likesOf: (row: number) => number,
  ) {
    this.catalogue = catalogue;
    this.generations = generations;
    this.type = type;
    this.findRelated = findRelated;
    this.sinceFit = sinceFit;
    this.likesOf = likesOf;
  }

  /** The same as `of` where the last fit has found enough of them; undefined where more are to be worked out. */
  ready(row: number, k: number, accept: (row: number) => boolean): Ranked | undefined {
    const ahead = this.ahead(row);
    const known = filterRanked(ahead, k, (other) => this.catalogue.isListable(other) && accept(other));
    if (known.rows.length === k) return known;
    // Shorter than any table is cut: then there were no others.
    const isAll = ahead.rows.length > 0 && ahead.rows.length < NEIGHBORS_MIN && !this.hasNews(row);
    return isAll ? known : undefined;
  }

  /** The listable items most like the one at `row` that pass `accept`, at most `k`, best first. */
  async of(row: number, k: number, accept: (row: number) => boolean, signal?: AbortSignal): Promise<Ranked> {
    const ready = this.ready(row, k, accept);
    if (ready !== undefined) return ready;
    const accepted = (other: number) => this.catalogue.isListable(other) && accept(other);
    const ahead = this.ahead(row);
    const known = filterRanked(ahead, k, accepted);
    const seen = new Set(Array.from(ahead.rows));
    const rest = await this.workOut(
      row,
      k - known.rows.length,
      (other) => !seen.has(other) && accepted(other),
      signal,
    );
    // One list, whose beginning does not depend on its length: what follows never scores above what was before it.
    const least = known.scores.at(-1) ?? Number.POSITIVE_INFINITY;
    return {
      rows: [...known.rows, ...rest.rows],
      scores: [...known.scores, ...rest.scores.map((score) => Math.min(score, least))],
    };
  }

  private ahead(row: number): { readonly rows: ArrayLike<number>; readonly scores: ArrayLike<number> } {
    const lists = this.generations.current.parts.itemNeighbors;
    return lists === undefined || this.sinceFit.hasChanged(row) ? NOTHING : lists.neighborsAt(row);
  }

  private async workOut(
    row: number,
    k: number,
    accepted: (row: number) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<Ranked> {
    if (this.isByLabels(row))
      return this.queue.run(() => similarRowsInTurns(row, k, this.labels(), accepted, signal), signal);
    const related = await this.findRelated('items-by-users', row, NEIGHBORS_MAX, signal).catch(noneElsewhere);
    return filterRanked(related, k, accepted);
  }

  private isByLabels(row: number): boolean {
    return isByLabels(this.type, this.catalogue.hasLabels(row));
  }

  /** True when others may have come to those of the last fit. */
  private hasNews(row: number): boolean {
    return this.isByLabels(row) ? this.sinceFit.hasNewsByLabels(row) : this.sinceFit.hasNewsByUsers(row);
  }

  private labels() {
    const { catalogue, likesOf } = this;
    return {
      // Of items alike the one that more people like comes first, as in what the fit compared.
      order: (row: number, other: number) => likesOf(other) - likesOf(row) || row - other,
      rowCount: catalogue.itemCount,
      elementsOf: (row: number) => catalogue.labelNumbersAt(row),
      rowsOf: (label: number) => catalogue.rowsWithLabelNumber(label) ?? NOBODY,
    };
  }
}

/** Where other nodes are asked and none answers, what the last fit has found must do. */
function noneElsewhere(error: unknown): Ranked {
  if (error instanceof FurzeError && error.code === 'STORE_UNAVAILABLE') return NOTHING;
  throw error;
}

const NOBODY: ReadonlySet<number> = new Set();
