import { SUM_NAMES, type SumName } from '../models/like-sums.ts';
import type { Matcher } from './matcher.ts';

/**
 * Items with the highest sums of one kind on what the user likes, where the ranking goes by it: further opinions of the
 * collaborative recommender.
 */
function sumMatcher(name: SumName): Matcher {
  return {
    lists({ settings, sums, accept }) {
      if (!settings.collaborative) return [];
      return [sums.of(name).topRows(settings.cacheSize, accept)];
    },
    proposes:
      ({ settings, sums }) =>
      (row) =>
        settings.collaborative && sums.of(name).get(row) > 0,
  };
}

export const sumMatchers: readonly Matcher[] = SUM_NAMES.map(sumMatcher);
