import type { Config } from '../../config/config.ts';
import { readPositiveKinds } from '../../domain/positive-feedback-types.ts';
import type { LocalReads } from '../../store/data-store.ts';
import type { GenerationSlot } from '../models/generation-slot.ts';
import { SUM_NAMES, type SumName } from '../models/like-sums.ts';
import { type FindRelated, ItemNeighbors } from '../neighbors/item-neighbors.ts';
import { SinceFit } from '../neighbors/since-fit.ts';
import { UserNeighbors } from '../neighbors/user-neighbors.ts';
import type { InMemoryState } from '../state/in-memory-state.ts';
import { CollaborativeSource, collaborativeMatcher, type VectorOf } from './collaborative-source.ts';
import { GlobalSource, latestMatcher, popularMatcher } from './global-source.ts';
import { ItemBasedSource, itemBasedMatcher } from './item-based-source.ts';
import type { Matcher } from './matcher.ts';
import { type ListOfSession, SessionSource } from './session-source.ts';
import type { Sources } from './source.ts';
import { UserBasedSource, userBasedMatcher } from './user-based-source.ts';

/**
 * Items with the highest sums of one kind on what the user likes, where the ranking goes by it: further opinions of the
 * collaborative recommender.
 */
function sumMatcher(name: SumName): Matcher {
  return {
    lists({ settings, sums, k, accept, read, allowed }) {
      const ofName = settings.collaborative ? sums.of(name) : undefined;
      const rows = ofName?.topRows?.(k, { read, allowed }, accept);
      return rows === undefined ? [] : [rows];
    },
    proposes:
      ({ settings, sums }) =>
      (row) =>
        settings.collaborative && (sums.of(name)?.get(row) ?? 0) > 0,
  };
}

/**
 * Every recommender that proposes candidates for lists, in the order in which they are asked. To add a recommender, name it
 * in `src/domain/recommenders.ts`, write its file, and put it here and among `sources`.
 */
export const MATCHERS: readonly Matcher[] = [
  collaborativeMatcher,
  ...SUM_NAMES.map(sumMatcher),
  itemBasedMatcher,
  userBasedMatcher,
  popularMatcher,
  latestMatcher,
];

/** The recommenders that work when they are asked, and the neighbors that some of them ask. */
export interface ComposedSources {
  readonly sources: Sources;
  readonly sessions: SessionSource;
  /** By the positive feedback in the window. */
  readonly popular: GlobalSource;
  /** By seconds since the epoch. */
  readonly latest: GlobalSource;
  readonly itemNeighbors: ItemNeighbors;
  readonly userNeighbors: UserNeighbors;
  readonly sinceFit: SinceFit;
}

/** Puts all recommenders together. */
export function createSources(
  { recommend }: Config,
  parts: {
    readonly reads: LocalReads;
    readonly live: InMemoryState;
    readonly generations: GenerationSlot;
    readonly findRelated: FindRelated;
    readonly vectorOf: VectorOf;
    readonly listOfSession: ListOfSession;
  },
): ComposedSources {
  const { reads, live, generations, findRelated, vectorOf, listOfSession } = parts;
  const { catalogue, isPositive } = live;
  const sinceFit = new SinceFit(catalogue, reads, isPositive);
  const { neighbor_type: itemType } = recommend.item_neighbors;
  const likesOf = (row: number) => live.popularity.ever[row] ?? 0;
  const itemNeighbors = new ItemNeighbors(catalogue, generations, itemType, findRelated, sinceFit, likesOf);
  const { neighbor_type: type } = recommend.user_neighbors;
  const userNeighbors = new UserNeighbors({ reads, generations, findRelated, isPositive, type });
  const sessionLength = recommend.online.num_feedback_fallback_item_based;
  const itemBased = new ItemBasedSource({
    ...{ catalogue, generations, itemNeighbors, isPositive },
    seedItems: sessionLength,
  });
  const popular = new GlobalSource(live.popular);
  const latest = new GlobalSource(live.latest, 1000);
  const sources: Sources = {
    collaborative: new CollaborativeSource(generations, vectorOf, catalogue),
    item_based: itemBased,
    user_based: new UserBasedSource({ reads, catalogue, userNeighbors, isPositive }),
    popular,
    latest,
  };
  const positiveKinds = readPositiveKinds(recommend.data_source.positive_feedback_types);
  const bySequence = itemType === 'auto';
  const shared = { reads, catalogue, generations, itemBased };
  const mayReturn = recommend.repeat !== 'never';
  const sessions = new SessionSource({
    ...{ ...shared, positiveKinds, bySequence, sessionLength, listOfSession, mayReturn },
  });
  return { sources, sessions, popular, latest, itemNeighbors, userNeighbors, sinceFit };
}
