import type { Ranked } from '../../memory/ranked-rows.ts';
import type { LatestIndex } from '../global-lists/latest-index.ts';
import { matchLists } from './matcher.ts';
import type { Ask, Source } from './source.ts';

/** The newest items; the score is in seconds since the epoch. */
export class LatestSource implements Source {
  private readonly latest: LatestIndex;

  constructor(latest: LatestIndex) {
    this.latest = latest;
  }

  async rank({
    k,
    accept,
    categories,
    among,
  }: Pick<Ask, 'k' | 'accept' | 'categories' | 'among'>): Promise<Ranked> {
    const { rows, scores } = await this.latest.top(k, categories, accept, among);
    return { rows, scores: scores.map((timeMs) => timeMs / 1000) };
  }
}

export const latestMatcher = matchLists(({ inputs, settings, wanted }) =>
  settings.latest || wanted.latest ? [inputs.latestRows()] : [],
);
