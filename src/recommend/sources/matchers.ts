import { collaborativeMatcher } from './collaborative.ts';
import { itemBasedMatcher } from './item-based.ts';
import { latestMatcher } from './latest.ts';
import type { Matcher } from './matcher.ts';
import { popularMatcher } from './popular.ts';
import { sumMatchers } from './sum-matchers.ts';
import { userBasedMatcher } from './user-based.ts';

/** Every recommender that proposes candidates for lists, in the order in which they are asked. */
export const MATCHERS: readonly Matcher[] = [
  collaborativeMatcher,
  ...sumMatchers,
  itemBasedMatcher,
  userBasedMatcher,
  popularMatcher,
  latestMatcher,
];
