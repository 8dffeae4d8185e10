import { SUM_NAMES, type SumName } from '../models/like-sums.ts';
import type { Matcher } from './matcher.ts';

/**
 * Items with the highest sums of one kind on what the user likes, where the ranking goes by it: further opinions of the
 * collaborative recommender.
 */
function sumMatcher(name: SumName): Matcher {
  return {
    lists({ settings, sums, accept, read, allowed }) {
      const ofName = settings.collaborative ? sums.of(name) : undefined;
      return ofName === undefined ? [] : [ofName.topRows(settings.cacheSize, { read, allowed }, accept)];
    },
    proposes:
      ({ settings, sums }) =>
      (row) =>
        settings.collaborative && (sums.of(name)?.get(row) ?? 0) > 0,
  };
}

export const sumMatchers: readonly Matcher[] = SUM_NAMES.map(sumMatcher);
