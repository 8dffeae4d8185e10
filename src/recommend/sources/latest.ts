import type { Catalogue } from '../catalogue.ts';
import type { LatestIndex } from '../latest.ts';
import type { Ranked } from '../ranked.ts';
import { matchLists } from './matcher.ts';
import type { Ask, Source } from './source.ts';

/** The newest items; the score is in seconds since the epoch. */
export class LatestSource implements Source {
  private readonly latest: LatestIndex;
  private readonly catalogue: Catalogue;

  constructor(latest: LatestIndex, catalogue: Catalogue) {
    this.latest = latest;
    this.catalogue = catalogue;
  }

  rank({ k, accept, categories }: Pick<Ask, 'k' | 'accept' | 'categories'>): Ranked {
    const { latest, catalogue } = this;
    const rows = newestRows(latest, catalogue, k, accept, categories);
    return { rows, scores: rows.map((row) => catalogue.timestampMsAt(row) / 1000) };
  }
}

/** The `k` newest listable items that pass and have the categories. */
export function newestRows(
  latest: LatestIndex,
  catalogue: Catalogue,
  k: number,
  accept: (itemRow: number) => boolean,
  categories: readonly string[],
): number[] {
  const rows: number[] = [];
  if (k > 0) {
    latest.walk(categories, (row) => {
      if (catalogue.isListable(row) && accept(row)) rows.push(row);
      return rows.length < k;
    });
  }
  return rows;
}

export const latestMatcher = matchLists(({ world, settings, wanted }) =>
  settings.latest || wanted.latest ? [world.latestRows()] : [],
);
