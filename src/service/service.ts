import { Admin } from '../admin/admin.ts';
import { logStart, logTroubles } from '../admin/log-start-and-troubles.ts';
import { type FitSummary, SETTLE_MS } from '../background/fit/fit-schedule.ts';
import { itemFinder } from '../background/pool/finders.ts';
import type { SearchState } from '../background/search/last-search.ts';
import { type Background, startBackground } from '../background/start-background.ts';
import type { OnProgress } from '../background/tasks/fit-stages.ts';
import { baseUrl } from '../config/base-url.ts';
import type { Config } from '../config/config.ts';
import { type ConfigOrigin, NO_ORIGIN } from '../config/value-origins.ts';
import { type Clock, steadyClock, systemClock } from '../domain/clock.ts';
import { checkAddress } from '../http/engine/listen-failure.ts';
import { requestTotals } from '../http/metrics/request-totals.ts';
import { type HttpGround, type HttpListener, listenHttp, prepareHttp } from '../http/start-http.ts';
import { unlessAborted } from '../platform/concurrency/unless-aborted.ts';
import { limitRepeats } from '../platform/log/limit-log-repeats.ts';
import type { Logger } from '../platform/log/log.ts';
import { Teardown } from '../platform/process/teardown.ts';
import { type Shown, startShown } from '../shown/start-shown.ts';
import { checkHealth } from '../store/check-health.ts';
import type { DataStore } from '../store/data-store.ts';
import { type StartedStores, startStores } from '../store/open/start-stores.ts';

export interface Service {
  readonly address: HttpListener['address'];
  readonly data: DataStore;
  /** Resolves once all feedback is counted: until then known users get their last list, or fallbacks; never rejects. */
  readonly settled: Promise<void>;
  /** Trains the model on the feedback there is and makes all lists; undefined when there is no positive feedback. */
  fit(onProgress?: OnProgress): Promise<FitSummary | undefined>;
  /** Searches for better settings of the model; undefined when there is too little feedback to judge by. */
  searchSettings(): Promise<SearchState | undefined>;
  readonly hasModel: boolean;
  /** Number of the generation that is being served; undefined without a model. */
  readonly generation: number | undefined;
  /** Stops listening, ends the workers and closes the stores, in this order. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly clock?: Clock;
  /** Time that has passed, milliseconds, for budgets of time; it never goes back. */
  readonly elapsedMs?: Clock;
  /** Longest wait for another process to let go of the folders, milliseconds; none by default. */
  readonly lockWaitMs?: number;
  /** Ends the start when it is aborted before that has come to its end; what was begun is undone in order. */
  readonly signal?: AbortSignal;
  /** Where the configuration was taken from, for those who ask. */
  readonly origin?: ConfigOrigin;
  /** True where nothing begins by itself: no fit, no search and no upkeep but those that are asked for. */
  readonly onDemand?: boolean;
  /** Time from the last feedback to a first fit that nobody asks for, milliseconds. */
  readonly settleMs?: number;
}

/** Of a start that nobody ends. */
const NEVER = new AbortController().signal;

const DEFAULTS = {
  clock: systemClock,
  elapsedMs: steadyClock,
  lockWaitMs: 0,
  signal: NEVER,
  origin: NO_ORIGIN,
  onDemand: false,
  settleMs: SETTLE_MS,
};

/**
 * Builds everything from the bottom up (stores, workers, what is kept in memory, the saved model, HTTP) and starts it.
 * @throws OperatorError when another process has the folders or the port
 * @throws the reason of `signal` once that is aborted
 * @throws Error when a store cannot be opened or the address cannot be listened on; nothing is left running then
 */
export async function startService(given: ServiceOptions): Promise<Service> {
  const options: Options = { ...DEFAULTS, ...given };
  const { config, log, origin, onDemand, signal } = options;
  const teardown = new Teardown();
  try {
    const stores = await startStores(config, options, teardown);
    signal.throwIfAborted();
    // Not before the folders: who waits for them waits for the process that has the port, too.
    await checkAddress(config.server.host, config.server.port);
    await logStart(log, stores.data, config, stores.paths, origin.file);
    const background = await startBackground(options, stores, teardown);
    signal.throwIfAborted();
    // Made ready while workers read the saved model.
    const ground = prepareHttp(config, stores.data, log);
    teardown.add(() => ground.metrics.close());
    const { recommendation } = background;
    const { clock, elapsedMs } = options;
    const onTrouble = limitRepeats((message, error) => log.error({ err: error }, message));
    const shown = startShown(config, { ...stores, recommendation, clock, elapsedMs, onTrouble });
    teardown.add(() => shown.impressions.stop());
    const admin = createAdmin(options, stores, background, ground);
    await admin.start();
    teardown.add(() => admin.stop());
    const listener = await startHttp(options, stores, background, ground, admin, shown);
    teardown.add(() => listener.close());
    await unlessAborted(background.isRestored, signal);
    stores.noteReady(baseUrl(listener.address));
    const { host, port } = listener.address;
    stores.cluster?.noteAddress(`${host}:${port}`);
    const { fits, search } = background;
    if (!onDemand) {
      fits.start();
      search.start();
      admin.compaction.start();
    }
    await logTroubles(log, admin);
    return {
      address: listener.address,
      data: stores.data,
      settled: recommendation.live.settled,
      stop: () => teardown.run(),
      fit: (onProgress) => fits.run(onProgress),
      searchSettings: () => search.run(),
      get hasModel() {
        return fits.hasModel;
      },
      get generation() {
        return fits.served?.number;
      },
    };
  } catch (error) {
    await teardown.run();
    throw error;
  }
}

type Options = Required<ServiceOptions>;

function createAdmin(
  { config, origin, clock, elapsedMs, log }: Options,
  { data, cache, shownLog, cluster, paths: folders }: StartedStores,
  { pool, recommendation, tasks, fits, search, given }: Background,
  { metrics, engine }: HttpGround,
): Admin {
  const storeError = async () => {
    const { DataStoreError, CacheStoreError } = await checkHealth(data, cache, shownLog);
    return DataStoreError || CacheStoreError;
  };
  return new Admin({
    ...{
      config,
      origin,
      folders,
      data,
      cache,
      shownLog,
      cluster,
      recommendation,
      tasks,
      fits,
      search,
      given,
    },
    ...{ storeError, clock, elapsedMs, log },
    requests: () => requestTotals(metrics.registry),
    engine: engine.name,
    threads: pool.trainingSlots,
  });
}

function startHttp(
  { config, log, clock }: Options,
  { data, cache, shownLog, cluster, paths }: StartedStores,
  { pool, tasks, recommendation, isRestored }: Background,
  ground: HttpGround,
  admin: Admin,
  shown: Shown,
): Promise<HttpListener> {
  const { recommender, explainer, placementCounts } = recommendation;
  const searchItems = itemFinder(pool, paths.dataPath, () => data.ping());
  const health = () => checkHealth(data, cache, shownLog);
  const services = { data, recommender, explainer, ...shown, admin, searchItems, health, clock };
  const background = {
    progress: () => tasks.fitPace,
    cache: () => cache.getStats(),
    cluster,
    placementCounts,
  };
  return listenHttp(isRestored, ground, services, background, config, log);
}
