import type { Catalogue } from './catalogue.ts';
import { similarRows } from './neighbors.ts';
import type { Ranked } from './ranked.ts';
import type { Relation } from './related.ts';

export type NeighborType = 'similar' | 'related' | 'auto';

/** Finds related rows aside (in a worker); at most `k`, best first. */
export type FindRelated = (relation: Relation, row: number, k: number) => Promise<Ranked>;

/** Neighbors longer than this are not looked for. */
export const NEIGHBORS_MAX = 10_000;

/** Items like an item: by labels out of the catalogue at once, by common users through `findRelated`. */
export class ItemNeighbors {
  private readonly catalogue: Catalogue;
  private readonly type: NeighborType;
  private readonly findRelated: FindRelated;

  constructor(catalogue: Catalogue, type: NeighborType, findRelated: FindRelated) {
    this.catalogue = catalogue;
    this.type = type;
    this.findRelated = findRelated;
  }

  /** The listable items most like the one at `row` that pass `accept`, at most `k`, best first. */
  async of(row: number, k: number, accept: (row: number) => boolean): Promise<Ranked> {
    const { catalogue } = this;
    const accepted = (other: number) => catalogue.isListable(other) && accept(other);
    const byLabels = this.type === 'similar' || (this.type === 'auto' && catalogue.labelsAt(row).length > 0);
    if (byLabels) return similarRows(row, k, this.labels(), accepted);
    const related = await this.findRelated('items-by-users', row, NEIGHBORS_MAX);
    return filterRanked(related, k, accepted);
  }

  private labels() {
    const { catalogue } = this;
    return {
      rowCount: catalogue.itemCount,
      elementsOf: (row: number) => catalogue.labelsAt(row),
      rowsOf: (label: string) => catalogue.rowsWithLabel(label) ?? NOBODY,
    };
  }
}

const NOBODY: ReadonlySet<number> = new Set();

/** The first `k` entries that pass. */
export function filterRanked(ranked: Ranked, k: number, accept: (row: number) => boolean): Ranked {
  const rows: number[] = [];
  const scores: number[] = [];
  for (let at = 0; at < ranked.rows.length && rows.length < k; at++) {
    if (!accept(ranked.rows[at]!)) continue;
    rows.push(ranked.rows[at]!);
    scores.push(ranked.scores[at]!);
  }
  return { rows, scores };
}
