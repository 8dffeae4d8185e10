import type { Ranked } from '../../memory/ranked-rows.ts';
import type { RankedIndex } from '../global-lists/ranked-index.ts';
import { matchLists } from './matcher.ts';
import type { Ask, Source } from './source.ts';

/** Items in an order that is the same for all: the most popular ones, the newest ones. */
export class GlobalSource implements Source {
  private readonly index: RankedIndex;
  private readonly unit: number;

  /** @param unit of the scores, in that of the index */
  constructor(index: RankedIndex, unit = 1) {
    this.index = index;
    this.unit = unit;
  }

  async rank(asked: Pick<Ask, 'k' | 'accept' | 'categories' | 'among'>): Promise<Ranked> {
    const { rows, scores } = await this.index.top(asked.k, asked.categories, asked.accept, asked.among);
    return { rows, scores: scores.map((score) => score / this.unit) };
  }
}

export const latestMatcher = matchLists(({ inputs, settings, wanted }) =>
  settings.latest || wanted.latest ? [inputs.latestRows()] : [],
);

/** Items that are popular by the configuration, and on the scales that a ranking goes by. */
export const popularMatcher = matchLists(({ inputs, settings, wanted }) => [
  ...(settings.popular ? [inputs.popularRows()] : []),
  ...wanted.scales.map((scale) => inputs.trendingRows(scale)),
]);
