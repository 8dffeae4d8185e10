import type { Ranked } from '../../memory/ranked-rows.ts';
import type { PopularIndex } from '../global-lists/popular-index.ts';
import { matchLists } from './matcher.ts';
import type { Ask, Source } from './source.ts';

/** The items with the most positive feedback in the window; the score is its number. */
export class PopularSource implements Source {
  private readonly popular: PopularIndex;

  constructor(popular: PopularIndex) {
    this.popular = popular;
  }

  rank({
    k,
    accept,
    categories,
    among,
  }: Pick<Ask, 'k' | 'accept' | 'categories' | 'among'>): Promise<Ranked> {
    return this.popular.top(k, categories, accept, among);
  }
}

/** Items that are popular by the configuration, and on the scales that a ranking goes by. */
export const popularMatcher = matchLists(({ inputs, settings, wanted }) => [
  ...(settings.popular ? [inputs.popularRows()] : []),
  ...wanted.scales.map((scale) => inputs.trendingRows(scale)),
]);
