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

  async rank({
    k,
    accept,
    categories,
    among,
  }: Pick<Ask, 'k' | 'accept' | 'categories' | 'among'>): Promise<Ranked> {
    const { latest, catalogue } = this;
    const isShown = (row: number) => catalogue.isListable(row) && accept(row);
    const { rows, scores } = await latest.top(k, categories, isShown, among);
    return { rows, scores: scores.map((timeMs) => timeMs / 1000) };
  }
}

export const latestMatcher = matchLists(({ world, settings, wanted }) =>
  settings.latest || wanted.latest ? [world.latestRows()] : [],
);
