import type { Clock } from '../domain/clock.ts';
import type { Config } from '../domain/config.ts';
import type { CacheStore } from '../store/cache-store.ts';
import type { ChangeSet, DataStore, LocalReads } from '../store/data-store.ts';
import { Explainer } from './explain.ts';
import { Fallbacks } from './fallbacks.ts';
import { History, type TypeTest } from './history.ts';
import { HitCache } from './hit-cache.ts';
import { type FindRelated, ItemNeighbors } from './item-neighbors.ts';
import { ListMaker, type ListSettings } from './list-maker.ts';
import { UserLists } from './lists.ts';
import { LiveState } from './live-state.ts';
import { liveWorld } from './live-world.ts';
import { OnlineRecommender } from './online.ts';
import { GenerationSlot } from './serving-model.ts';

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
  readonly generations: GenerationSlot;
  readonly settings: ListSettings;
  readonly reads: LocalReads;
  readonly fallbacks: Fallbacks;
  readonly itemNeighbors: ItemNeighbors;
  /** What a user has done as of now, for the caller alone. */
  readonly historyOf: (userRow: number) => History;
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
  const { data_source, offline, online, popular, item_neighbors, user_neighbors, cache_size } =
    config.recommend;
  const live = new LiveState({
    reads,
    clock,
    positiveTypes: data_source.positive_feedback_types,
    popularWindowMs: popular.popular_window,
    itemTtlMs: ttlMs(data_source.item_ttl),
    newestCount: offline.enable_latest_recommend || offline.explore_recommend.latest > 0,
  });
  await live.load(reads);
  const { catalogue, isPositive } = live;
  const generations = new GenerationSlot();
  const settings = listSettings(config);
  const lastRows = (userRow: number): ArrayLike<number> => lists.last(userRow)?.itemRows ?? [];
  const world = liveWorld({ live, generations, reads, clock, cacheSize: cache_size, lastRows });
  const maker = new ListMaker(settings, world, isPositive);
  const lists: UserLists = new UserLists({
    cache,
    generations,
    maker,
    clock,
    ages: {
      refreshMs: offline.refresh_recommend_period,
      expireMs: config.recommend.cache_expire,
      arrivalMs: config.server.cache_expire,
    },
    validSinceMs: await settingsSince(settings, cache, clock),
    arrivedMs: () => live.arrivedMs,
    onReplaced: (userRow) => hits.forget(userRow),
  });
  await lists.restore();
  const hits: HitCache = new HitCache({
    bytesMax: config.server.hit_cache_mb * 2 ** 20,
    catalogue,
    clock,
    clockErrorMs: config.server.clock_error,
    isBehind: (list, nowMs) => lists.isBehind(list, nowMs),
  });
  const itemNeighbors = new ItemNeighbors(catalogue, generations, item_neighbors.neighbor_type, findRelated);
  const { latest, popular: popularIndex } = live;
  const shared = {
    reads,
    catalogue,
    latest,
    popular: popularIndex,
    itemNeighbors,
    findRelated,
    maker,
    generations,
  };
  const userNeighborType = user_neighbors.neighbor_type;
  const sessionLength = online.num_feedback_fallback_item_based;
  const fallbacks = new Fallbacks({ ...shared, userNeighborType, isPositive, sessionLength });
  const history = new History(reads, ttlMs(data_source.positive_feedback_ttl));
  const recommender = new OnlineRecommender({
    ...shared,
    data,
    userNeighborType,
    lists,
    hits,
    replacesRead: settings.replacement !== undefined,
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
    maker,
    generations,
    isPositive,
    recommender,
    effectiveUntilMs: () => clock() + config.server.clock_error,
  });
  const marks: TypeTest = settings.replacement === undefined ? isPositive : () => true;
  data.onChange((changes) => {
    follow(changes, live, lists, marks);
    hits.apply(changes);
  });
  const historyOf = (userRow: number) => {
    const own = new History(reads, ttlMs(data_source.positive_feedback_ttl));
    own.load(userRow, clock() + config.server.clock_error);
    return own;
  };
  const served = { recommender, explainer, fallbacks, itemNeighbors };
  return { ...served, live, lists, generations, settings, reads, historyOf };
}

/** @param marks the feedback types after which a user's list is another */
function follow(changes: ChangeSet, live: LiveState, lists: UserLists, marks: TypeTest): void {
  live.apply(changes);
  for (const feedback of [changes.added, changes.removed]) {
    for (let at = 0; at < feedback.length; at++) {
      if (marks(feedback.types[at]!)) lists.markDirty(feedback.userRows[at]!);
    }
  }
  lists.delete(changes.deletedUserRows);
}

/** Name of the mark that tells which settings lists are made with. */
const SETTINGS_MARK = 'list-settings';

/** Since when lists are made with these settings, milliseconds since the epoch; now if they are new. */
async function settingsSince(settings: ListSettings, cache: CacheStore, clock: Clock): Promise<number> {
  const known = (await cache.getMark(SETTINGS_MARK)) as { settings: string; sinceMs: number } | undefined;
  const text = JSON.stringify(settings);
  if (known?.settings === text) return known.sinceMs;
  const sinceMs = clock();
  await cache.putMark(SETTINGS_MARK, { settings: text, sinceMs });
  return sinceMs;
}

function listSettings({ recommend }: Config): ListSettings {
  const { offline, replacement, online, collaborative } = recommend;
  return {
    latest: offline.enable_latest_recommend,
    popular: offline.enable_popular_recommend,
    userBased: offline.enable_user_based_recommend,
    itemBased: offline.enable_item_based_recommend,
    collaborative: offline.enable_collaborative_recommend,
    clickThrough: offline.enable_click_through_prediction,
    cacheSize: recommend.cache_size,
    seedItems: online.num_feedback_fallback_item_based,
    replacement: replacement.enable_replacement
      ? {
          positiveDecay: replacement.positive_replacement_decay,
          readDecay: replacement.read_replacement_decay,
        }
      : undefined,
    explore: offline.explore_recommend,
    seed: collaborative.seed,
  };
}
