import type { Clock } from '../domain/clock.ts';
import type { Config } from '../domain/config.ts';
import { positiveKindNames, readPositiveKinds } from '../domain/positive-kinds.ts';
import type { CacheStore } from '../store/cache-store.ts';
import type { ChangeSet, DataStore, FeedbackColumns, LocalReads } from '../store/data-store.ts';
import { Explainer } from './explain.ts';
import { Histories } from './histories.ts';
import type { TypeTest } from './history.ts';
import { HitCache } from './hit-cache.ts';
import { type FindRelated, ItemNeighbors } from './item-neighbors.ts';
import { ListMaker } from './list-maker.ts';
import { type ListSettings, listSettings } from './list-settings.ts';
import { ListFreshness } from './lists/freshness.ts';
import type { MakeAside } from './lists/remake-queue.ts';
import { TimeBudget } from './lists/time-budget.ts';
import { UserLists } from './lists/user-lists.ts';
import { LiveState } from './live-state.ts';
import { liveWorld } from './live-world.ts';
import { OnlineRecommender } from './online.ts';
import { PersonalAnswers } from './personal.ts';
import { GenerationSlot } from './serving-model.ts';
import { SinceFit } from './since-fit.ts';
import { CollaborativeSource } from './sources/collaborative.ts';
import { ItemBasedSource } from './sources/item-based.ts';
import { LatestSource } from './sources/latest.ts';
import { PopularSource } from './sources/popular.ts';
import { SessionSource } from './sources/session.ts';
import { Sources } from './sources/sources.ts';
import { UserBasedSource } from './sources/user-based.ts';
import { UserNeighbors } from './user-neighbors.ts';
import { WriteBack } from './write-back.ts';

const DAY_MS = 86_400_000;
/** Records of a commit looked at in one step. */
const STEP_RECORDS = 1024;

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
  readonly sources: Sources;
  readonly itemNeighbors: ItemNeighbors;
  readonly histories: Histories;
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
  /** Makes users' lists in a worker. */
  readonly makeAside: MakeAside;
  readonly clock: Clock;
  /** A clock that never goes back, milliseconds. */
  readonly elapsedMs: () => number;
  readonly onTrouble: (message: string, error: unknown) => void;
}): Promise<Recommendation> {
  const { config, data, cache, findRelated, clock } = parts;
  const reads = data.local;
  if (reads === undefined) throw new Error('this data store cannot be read locally');
  const { data_source, offline, online, popular, item_neighbors, user_neighbors, cache_size } =
    config.recommend;
  const live = new LiveState({
    reads,
    clock,
    positiveTypes: positiveKindNames(data_source.positive_feedback_types),
    popularWindowMs: popular.popular_window,
    itemTtlMs: ttlMs(data_source.item_ttl),
    newestCount: offline.enable_latest_recommend || offline.explore_recommend.latest > 0,
  });
  await live.load(reads);
  const { catalogue, isPositive } = live;
  const generations = new GenerationSlot();
  const settings = listSettings(config.recommend);
  const lastRows = (userRow: number): ArrayLike<number> => {
    const last = lists.last(userRow);
    return last === undefined || lists.isRetracted(last) ? [] : last.itemRows;
  };
  const world = liveWorld({ live, generations, reads, clock, cacheSize: cache_size, lastRows });
  const maker = new ListMaker(settings, world, isPositive);
  const freshness = new ListFreshness({
    clock,
    ages: {
      refreshMs: offline.refresh_recommend_period,
      expireMs: config.recommend.cache_expire,
      arrivalMs: config.server.cache_expire,
    },
    validSinceMs: await settingsSince(settings, cache, clock),
    arrivedMs: () => live.arrivals.lastMs,
  });
  const lists: UserLists = new UserLists({
    cache,
    generations,
    maker,
    freshness,
    clock,
    arrivalsSince: (sinceMs) => live.arrivals.since(sinceMs),
    budget: new TimeBudget(online.remake_share, parts.elapsedMs),
    makeAside: parts.makeAside,
    needsWorker: settings.userBased,
    onReplaced: (userRow) => hits.forget(userRow),
    onTrouble: parts.onTrouble,
  });
  await lists.restore();
  const hits: HitCache = new HitCache({
    bytesMax: config.server.hit_cache_mb * 2 ** 20,
    catalogue,
    clock,
    clockErrorMs: config.server.clock_error,
    isBehind: (list, nowMs) => lists.isBehind(list, nowMs),
  });
  const sinceFit = new SinceFit(catalogue, reads, isPositive);
  const itemNeighbors = new ItemNeighbors(
    catalogue,
    generations,
    item_neighbors.neighbor_type,
    findRelated,
    sinceFit,
  );
  const shared = {
    reads,
    catalogue,
    itemNeighbors,
    userNeighbors: new UserNeighbors({
      reads,
      generations,
      findRelated,
      isPositive,
      type: user_neighbors.neighbor_type,
    }),
    maker,
    generations,
  };
  const sessionLength = online.num_feedback_fallback_item_based;
  const itemBased = new ItemBasedSource({ ...shared, isPositive, seedItems: sessionLength });
  const global = {
    popular: new PopularSource(live.popular),
    latest: new LatestSource(live.latest, catalogue),
  };
  const sources = new Sources({
    collaborative: new CollaborativeSource(generations, (history) => maker.vectorOf(history), catalogue),
    item_based: itemBased,
    user_based: new UserBasedSource({ ...shared, isPositive }),
    ...global,
  });
  const untilMs = () => clock() + config.server.clock_error;
  const histories = new Histories(reads, ttlMs(data_source.positive_feedback_ttl), untilMs);
  const personal = new PersonalAnswers({
    ...shared,
    lists,
    hits,
    histories,
    replacesRead: settings.replacement !== undefined,
    sources,
    fallbackOrder: online.fallback_recommend,
    writeBack: new WriteBack(data, catalogue, clock),
  });
  const positiveKinds = readPositiveKinds(data_source.positive_feedback_types);
  const sessions = new SessionSource({ reads, catalogue, itemBased, positiveKinds, sessionLength });
  const recommender = new OnlineRecommender({ ...shared, ...global, histories, personal, sessions });
  const explainer = new Explainer({ ...shared, histories, sources, isPositive, recommender });
  const marks: TypeTest = settings.replacement === undefined ? isPositive : () => true;
  data.onChange(function* (changes) {
    yield* live.follow(changes);
    yield* markLists(changes, lists, marks);
    yield* hits.follow(changes);
    yield* sinceFit.follow(changes);
  });
  const served = { recommender, explainer, sources, itemNeighbors };
  return { ...served, live, lists, generations, settings, reads, histories };
}

/**
 * Notes whose lists a commit changes, a fraction of a millisecond a step.
 * @param marks the feedback types after which a user's list is another
 */
function* markLists(changes: ChangeSet, lists: UserLists, marks: TypeTest): Generator<unknown> {
  const { added, removed, deletedUserRows } = changes;
  for (let at = 0; at < added.length; at++) {
    if (at % STEP_RECORDS === STEP_RECORDS - 1) yield;
    if (marks(added.types[at]!)) lists.markDirty(added.userRows[at]!);
  }
  const isOverwritten = yield* pairTest(removed.length > 0 ? added : undefined);
  for (let at = 0; at < removed.length; at++) {
    if (at % STEP_RECORDS === STEP_RECORDS - 1) yield;
    const userRow = removed.userRows[at]!;
    if (marks(removed.types[at]!)) lists.markDirty(userRow, !isOverwritten(userRow, removed.itemRows[at]!));
  }
  lists.delete(deletedUserRows);
}

/** A test for the pairs of user and item that have records. */
function* pairTest(
  feedback: FeedbackColumns | undefined,
): Generator<unknown, (userRow: number, itemRow: number) => boolean> {
  const itemsByUser = new Map<number, Set<number>>();
  for (let at = 0; at < (feedback?.length ?? 0); at++) {
    if (at % STEP_RECORDS === STEP_RECORDS - 1) yield;
    const userRow = feedback!.userRows[at]!;
    const items = itemsByUser.get(userRow) ?? new Set();
    itemsByUser.set(userRow, items.add(feedback!.itemRows[at]!));
  }
  return (userRow, itemRow) => itemsByUser.get(userRow)?.has(itemRow) === true;
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
