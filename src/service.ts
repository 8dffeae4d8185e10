import { Admin } from './admin/admin.ts';
import { tellStart, tellTroubles } from './admin/tell.ts';
import { type Clock, systemClock } from './domain/clock.ts';
import type { Config } from './domain/config.ts';
import { type ConfigOrigin, NO_ORIGIN } from './domain/config-sources.ts';
import { limitRepeats } from './domain/limit-repeats.ts';
import type { Logger } from './domain/log.ts';
import { registerBackground } from './http/background-metrics.ts';
import { type HttpGround, type HttpListener, listenHttp, prepareHttp } from './http/compose.ts';
import { checkHealth } from './http/health.ts';
import { registerModel } from './http/model-metrics.ts';
import { requestTotals } from './http/request-totals.ts';
import { composeRecommendation, type Recommendation } from './recommend/compose.ts';
import type { DataStore } from './store/data-store.ts';
import {
  compactSpacious,
  guardFiles,
  lockStores,
  openStore,
  type StorePaths,
  type Stores,
} from './store/open-store.ts';
import { storeOptions, storePaths } from './store/store-options.ts';
import { type BackgroundTraining, composeTraining, openPool } from './worker/compose-training.ts';
import { relatedFinder } from './worker/find-related.ts';
import type { FitSummary } from './worker/fit-schedule.ts';
import { ItemSearch } from './worker/item-search.ts';
import type { WorkerPool } from './worker/pool.ts';
import type { OnProgress } from './worker/progress.ts';
import type { SearchMark } from './worker/search-marks.ts';
import { TaskLog } from './worker/task-log.ts';

/** A running service. */
export interface Service {
  readonly address: HttpListener['address'];
  readonly data: DataStore;
  /** Trains the model on the feedback there is and makes all lists; undefined when there is no positive feedback. */
  fit(onProgress?: OnProgress): Promise<FitSummary | undefined>;
  /** Searches for better settings of the model; undefined when there is too little feedback to judge by. */
  searchSettings(): Promise<SearchMark | undefined>;
  /** True when a model is being served. */
  readonly hasModel: boolean;
  /** Stops listening, ends the workers and closes the stores, in this order. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly clock?: Clock;
  /** How long to wait for another process to let go of the folders, milliseconds; none by default. */
  readonly lockWaitMs?: number;
  /** Where the configuration was taken from, for those who ask. */
  readonly origin?: ConfigOrigin;
}

/** What is undone when the service stops, the last first. */
type Undo = (() => unknown)[];

/**
 * Builds everything from the bottom up (stores, workers, what is kept in memory, the saved model, HTTP) and starts it.
 * @throws OperatorError when another process has the folders or the port
 * @throws Error when a store cannot be opened or the address cannot be listened on; nothing is left running then
 */
export async function startService(given: ServiceOptions): Promise<Service> {
  const { clock = systemClock, lockWaitMs = 0, origin = NO_ORIGIN } = given;
  const options: Options = { ...given, clock, lockWaitMs, origin };
  const undo: Undo = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const stores = await openStores(options, undo);
    const { log, config } = options;
    const background = await startBackground(options, stores, () => admin.whyNothing(), undo);
    const { fits, search } = background;
    const ground = prepareHttp(config, stores.data, log);
    undo.push(() => ground.metrics.close());
    const admin: Admin = await startAdmin(options, stores, background, ground, undo);
    const listener = await startHttp(options, stores, background, ground, admin);
    undo.push(() => listener.close());
    stores.noteReady();
    fits.start();
    search.start();
    await tellTroubles(log, admin);
    return {
      address: listener.address,
      data: stores.data,
      stop,
      fit: (onProgress) => fits.run(onProgress),
      searchSettings: () => search.run(),
      get hasModel() {
        return fits.hasModel;
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Options = Required<ServiceOptions>;

interface OpenStores extends Stores {
  readonly paths: StorePaths;
  /** Notes that all is read that is needed to serve. */
  readonly noteReady: () => void;
}

/** Locks the folders, looks over their files and opens them. */
async function openStores(options: Options, undo: Undo): Promise<OpenStores> {
  const { config, log, clock, lockWaitMs, origin } = options;
  const paths = storePaths(config);
  const locks = await lockStores(paths, lockWaitMs, {
    weak: (reason) => log.warn(reason),
    waiting: (reason) => log.info({ reason }, 'waiting for another process to stop'),
  });
  undo.push(
    () => locks.cache.release(),
    () => locks.data.release(),
  );
  const { diedStarting } = locks.data;
  if (diedStarting)
    log.warn('the last process died while it was starting; both stores are read as a whole first');
  locks.data.noteStarting();
  await guardFiles({ ...paths, diedStarting }, (message) => log.error(message));
  const space = await compactSpacious(paths.dataPath);
  if (space?.isCompacted === true) log.info(space, 'the data store was rewritten without its free space');
  else if (space !== undefined)
    log.warn(space, 'much of the data store is free; "furze compact" gives it back');
  const { data, cache } = openStore(storeOptions(config, clock, log), locks);
  undo.push(
    () => cache.close(),
    () => data.close(),
  );
  await tellStart(log, data, config, paths, origin.file);
  return { data, cache, paths, noteReady: () => locks.data.noteReady() };
}

interface Background extends BackgroundTraining {
  readonly pool: WorkerPool;
  readonly recommendation: Recommendation;
  readonly tasks: TaskLog;
}

/** Starts the workers, loads what is kept in memory and the saved generation. */
async function startBackground(
  { config, log, clock }: Options,
  { data, cache, paths }: OpenStores,
  whyNothing: () => Promise<string>,
  undo: Undo,
): Promise<Background> {
  const pool = openPool(config, log);
  undo.push(() => pool.close());
  const recommendation = await composeRecommendation({
    config,
    data,
    cache,
    clock,
    elapsedMs: () => performance.now(),
    findRelated: relatedFinder(pool, config, paths, clock),
    makeAside: (userRows) => training.remakes.make(userRows),
    onTrouble: limitRepeats((message, error) => log.error({ err: error }, message), clock),
  });
  undo.push(() => recommendation.lists.close());
  const tasks = new TaskLog(clock, cache);
  await tasks.restore();
  undo.push(() => tasks.flush());
  const parts = { config, paths, data, cache, pool, recommendation, tasks, whyNothing, clock, log };
  const training: BackgroundTraining = composeTraining(parts);
  undo.push(() => training.fits.stop());
  await training.fits.restore();
  undo.push(() => training.search.stop());
  return { ...training, pool, recommendation, tasks };
}

/** What operators ask, and the metrics of what runs in the background. */
async function startAdmin(
  { config, origin, clock }: Options,
  { data, cache, paths: folders }: OpenStores,
  { pool, recommendation, tasks, fits, search, progress }: Background,
  { metrics: { registry }, engine }: HttpGround,
  undo: Undo,
): Promise<Admin> {
  registerBackground(registry, { progress: () => progress.current, cache: () => cache.getStats() });
  const storeError = async () => {
    const { DataStoreError, CacheStoreError } = await checkHealth(data, cache);
    return DataStoreError || CacheStoreError;
  };
  const admin = new Admin({
    ...{ config, origin, folders, data, cache, recommendation, tasks, fits, search, storeError, clock },
    requests: () => requestTotals(registry),
    engine: engine.name,
    threads: pool.trainingSlots,
  });
  registerModel(registry, () => admin.learning());
  await admin.sampler.start();
  undo.push(() => admin.sampler.stop());
  return admin;
}

function startHttp(
  { config, log, clock }: Options,
  { data, cache, paths }: OpenStores,
  { pool, recommendation: { recommender, explainer } }: Background,
  ground: HttpGround,
  admin: Admin,
): Promise<HttpListener> {
  const itemSearch = new ItemSearch(pool, paths.dataPath);
  const searchItems = (text: string, n: number) => itemSearch.find(text, n);
  const health = () => checkHealth(data, cache);
  const services = { data, recommender, explainer, admin, searchItems, health, clock };
  return listenHttp(ground, services, config, log);
}
