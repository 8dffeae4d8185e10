import type { Clock } from '../domain/clock.ts';
import type { Config } from '../domain/config.ts';
import type { CacheStore } from '../store/cache-store.ts';
import type { ChangeSet, DataStore } from '../store/data-store.ts';
import { Explainer } from './explain.ts';
import { Fallbacks } from './fallbacks.ts';
import { History } from './history.ts';
import { type FindRelated, ItemNeighbors } from './item-neighbors.ts';
import { UserLists } from './lists.ts';
import { LiveState } from './live-state.ts';
import { OnlineRecommender } from './online.ts';
import { ModelSlot } from './serving-model.ts';

const DAY_MS = 86_400_000;

/** Days of a time to live in milliseconds; 0 days is for ever. */
export function ttlMs(days: number): number {
  return days === 0 ? Number.POSITIVE_INFINITY : days * DAY_MS;
}

/** The recommendation side of a service, put together and kept in step with the store. */
export interface Recommendation {
  readonly recommender: OnlineRecommender;
  readonly explainer: Explainer;
  readonly live: LiveState;
  readonly lists: UserLists;
  readonly models: ModelSlot;
}

/**
 * Puts the recommenders together, loads what they keep in memory and subscribes them to the store's changes.
 * @throws Error when the store cannot be read locally
 */
export async function composeRecommendation(parts: {
  readonly config: Config;
  readonly data: DataStore;
  readonly cache: CacheStore;
  readonly findRelated: FindRelated;
  readonly clock: Clock;
}): Promise<Recommendation> {
  const { config, data, cache, findRelated, clock } = parts;
  const reads = data.local;
  if (reads === undefined) throw new Error('this data store cannot be read locally');
  const { data_source, online, popular, item_neighbors, user_neighbors, cache_size } = config.recommend;
  const live = new LiveState({
    reads,
    clock,
    positiveTypes: data_source.positive_feedback_types,
    popularWindowMs: popular.popular_window,
    itemTtlMs: ttlMs(data_source.item_ttl),
  });
  await live.load(reads);
  const { catalogue, isPositive } = live;
  const models = new ModelSlot();
  const lists = new UserLists({
    cache,
    models,
    isPositive,
    clock,
    cacheSize: cache_size,
    refreshMs: config.recommend.offline.refresh_recommend_period,
    expireMs: config.recommend.cache_expire,
    isListable: (row) => catalogue.isListable(row),
  });
  const itemNeighbors = new ItemNeighbors(catalogue, item_neighbors.neighbor_type, findRelated);
  const shared = { reads, catalogue, latest: live.latest, popular: live.popular, itemNeighbors, findRelated };
  const sessionLength = online.num_feedback_fallback_item_based;
  const fallbacks = new Fallbacks({ ...shared, lists, models, isPositive, sessionLength });
  const history = new History(reads, ttlMs(data_source.positive_feedback_ttl));
  const recommender = new OnlineRecommender({
    ...shared,
    data,
    userNeighborType: user_neighbors.neighbor_type,
    lists,
    models,
    fallbacks,
    fallbackOrder: online.fallback_recommend,
    history,
    isPositive,
    positiveTypes: data_source.positive_feedback_types,
    sessionLength,
    clockErrorMs: config.server.clock_error,
    clock,
  });
  const explainer = new Explainer({
    reads,
    catalogue,
    history,
    fallbacks,
    models,
    isPositive,
    recommender,
    effectiveUntilMs: () => clock() + config.server.clock_error,
  });
  data.onChange((changes) => follow(changes, live, lists));
  return { recommender, explainer, live, lists, models };
}

function follow(changes: ChangeSet, live: LiveState, lists: UserLists): void {
  live.apply(changes);
  for (const feedback of [changes.added, changes.removed]) {
    for (let at = 0; at < feedback.length; at++) {
      if (live.isPositive(feedback.types[at]!)) lists.markDirty(feedback.userRows[at]!);
    }
  }
  lists.delete(changes.deletedUserRows);
}
