import { Admin } from './admin/admin.ts';
import { type Clock, systemClock } from './domain/clock.ts';
import type { Config } from './domain/config.ts';
import { limitsOf } from './domain/config-limits.ts';
import { asksForKey, type ConfigOrigin, NO_ORIGIN } from './domain/config-sources.ts';
import { limitRepeats } from './domain/limit-repeats.ts';
import type { Logger } from './domain/log.ts';
import { positiveKindNames } from './domain/positive-kinds.ts';
import type { HealthReport } from './domain/schemas.ts';
import { VERSION } from './domain/version.ts';
import { accessRules, warnOfOpenDoor } from './http/access.ts';
import { registerBackground } from './http/background-metrics.ts';
import { chooseEngine } from './http/engine-choice.ts';
import { registerEngine } from './http/engine-metric.ts';
import { checkHealth } from './http/health.ts';
import { explainListenFailure } from './http/listen-failure.ts';
import { createMetrics } from './http/metrics.ts';
import { registerModel } from './http/model-metrics.ts';
import { requestTotals } from './http/request-totals.ts';
import { createRoutes } from './http/routes.ts';
import { type ConnectionLimits, createHttpServer } from './http/server.ts';
import { readTls } from './http/tls.ts';
import { automaticChoice } from './kernel/load-kernels.ts';
import { chooseRelaxedSimd } from './kernel/relaxed-simd.ts';
import { composeRecommendation, ttlMs } from './recommend/compose.ts';
import type { FindRelated } from './recommend/item-neighbors.ts';
import type { DataStore, FeedbackColumns } from './store/data-store.ts';
import { guardFiles, lockStores, openStore, type StorePaths } from './store/open-store.ts';
import { storeOptions, storePaths } from './store/store-options.ts';
import { composeTraining, fitMemoryBytesMax } from './worker/compose-training.ts';
import type { FitSummary } from './worker/fit-schedule.ts';
import { ItemSearch } from './worker/item-search.ts';
import { WorkerPool } from './worker/pool.ts';
import type { OnProgress } from './worker/progress.ts';
import { Questions } from './worker/questions.ts';
import type { SearchMark } from './worker/search-marks.ts';
import { TaskLog } from './worker/task-log.ts';

/** A running service. */
export interface Service {
  readonly address: { readonly protocol: 'http' | 'https'; readonly host: string; readonly port: number };
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

/**
 * Builds everything from the bottom up (stores, workers, what is kept in memory, the saved model, HTTP) and starts it.
 * @throws OperatorError when another process has the folders or the port
 * @throws Error when a store cannot be opened or the address cannot be listened on; nothing is left running then
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, log, clock = systemClock, lockWaitMs = 0, origin = NO_ORIGIN } = options;
  const undo: (() => unknown)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const { server } = config;
    const paths = storePaths(config);
    const locks = await lockStores(paths, lockWaitMs, {
      weak: (reason) => log.warn(reason),
      waiting: (reason) => log.info({ reason }, 'waiting for another process to stop'),
    });
    undo.push(
      () => locks.cache.release(),
      () => locks.data.release(),
    );
    await guardFiles(paths, (message) => log.error(message));
    const { data, cache } = openStore(storeOptions(config, clock, log), locks);
    undo.push(
      () => cache.close(),
      () => data.close(),
    );
    await tellStart(log, data, config, paths, origin.file);
    chooseRelaxedSimd(config.worker.relaxed_simd);
    const pool = new WorkerPool(config.worker.threads, {
      onTrouble: (message, error) => log.error({ err: error }, message),
    });
    log.info(
      {
        threads: pool.trainingSlots,
        kernels: automaticChoice(),
        fitMemoryMaxMb: Math.floor(fitMemoryBytesMax(config) / 2 ** 20),
      },
      'workers',
    );
    undo.push(() => pool.close());
    const recommendation = await composeRecommendation({
      config,
      data,
      cache,
      clock,
      elapsedMs: () => performance.now(),
      findRelated: finder(new Questions(pool, QUESTIONS_AT_WORK), config, paths, clock),
      makeAside: (userRows) => remakes.make(userRows),
      onTrouble: limitRepeats((message, error) => log.error({ err: error }, message), clock),
    });
    undo.push(() => recommendation.lists.close());
    const tasks = new TaskLog(clock, cache);
    await tasks.restore();
    undo.push(() => tasks.flush());
    const { fits, search, progress, remakes } = composeTraining({
      config,
      paths,
      cache,
      pool,
      recommendation,
      tasks,
      whyNothing: () => admin.whyNothing(),
      clock,
      log,
    });
    undo.push(() => fits.stop());
    await fits.restore();
    undo.push(() => search.stop());
    const routes = createRoutes(VERSION, limitsOf(config));
    const metrics = createMetrics({ routes, stats: () => data.getStats() });
    registerBackground(metrics.registry, { progress: () => progress.current, cache: () => cache.getStats() });
    undo.push(() => metrics.close());
    const tls = readTls(server);
    const engine = chooseEngine(server.http_engine, tls !== undefined);
    const say = engine.name !== 'uws' && server.http_engine === 'auto' ? 'warn' : 'info';
    log[say]({ engine: engine.name, why: engine.why }, 'HTTP engine');
    registerEngine(metrics.registry, engine);
    const admin: Admin = new Admin({
      config,
      origin,
      folders: paths,
      data,
      cache,
      recommendation,
      tasks,
      fits,
      search,
      requests: () => requestTotals(metrics.registry),
      storeError: async () => storeError(await checkHealth(data, cache)),
      engine: engine.name,
      threads: pool.trainingSlots,
      clock,
    });
    registerModel(metrics.registry, () => admin.learning());
    await admin.sampler.start();
    undo.push(() => admin.sampler.stop());
    data.onChange(({ added }) => {
      if (added.length > 0 && hasPositive(added, recommendation.live.isPositive)) fits.noteFeedback();
    });
    const access = accessRules(server);
    warnOfOpenDoor(access, log);
    const itemSearch = new ItemSearch(pool, paths.dataPath);
    const http = createHttpServer({
      engine,
      routes,
      services: {
        data,
        recommender: recommendation.recommender,
        explainer: recommendation.explainer,
        admin,
        searchItems: (text, n) => itemSearch.find(text, n),
        health: () => checkHealth(data, cache),
        metricsText: () => metrics.text(),
        clock,
        defaultN: server.default_n,
        limits: limitsOf(config),
      },
      host: server.host,
      port: server.port,
      tls,
      connections: connectionLimits(server),
      access,
      errorFormat: server.error_format,
      limits: limitsOf(config),
      log,
      metrics,
    });
    const listened = await http.listen().catch(async (error: unknown) => {
      throw await explainListenFailure(server.host, server.port, error);
    });
    const address = { protocol: tls === undefined ? 'http' : 'https', ...listened } as const;
    undo.push(() => http.close());
    fits.start();
    search.start();
    await tellTroubles(log, admin);
    return {
      address,
      data,
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

/** Of the time to stop, the part that requests under way have to end. */
const DRAIN_SHARE = 0.5;
const MIB = 2 ** 20;

function connectionLimits(server: Config['server']): ConnectionLimits {
  return {
    // One body at least, whatever is set.
    bodiesBytesMax: Math.max(server.max_bodies_mb * MIB, server.max_body_bytes),
    answersBytesMax: server.max_answers_mb * MIB,
    bodyTimeoutMs: server.body_timeout,
    sendTimeoutMs: server.send_timeout,
    keepAliveMs: server.keep_alive_timeout,
    drainMs: server.shutdown_timeout * DRAIN_SHARE,
  };
}

/** Says first of all what the service stands on. */
async function tellStart(
  log: Logger,
  data: DataStore,
  { server, recommend }: Config,
  { dataPath }: StorePaths,
  file: string,
): Promise<void> {
  const { users, items, feedback } = await data.getStats();
  const { positive_feedback_types: positiveTypes } = recommend.data_source;
  const key = asksForKey(server) ? 'on' : 'off';
  log.info({ data: dataPath, users, items, feedback, positiveTypes, key, config: file }, 'opened the data');
}

/** Says what is not right. */
async function tellTroubles(log: Logger, admin: Admin): Promise<void> {
  for (const { Code, Severity, Message, Advice } of (await admin.summary()).Troubles) {
    log[Severity === 'hint' ? 'info' : 'warn']({ code: Code }, `${Message} ${Advice}`);
  }
}

function hasPositive({ length, types }: FeedbackColumns, isPositive: (type: number) => boolean): boolean {
  for (let at = 0; at < length; at++) if (isPositive(types[at]!)) return true;
  return false;
}

function storeError({ DataStoreError, CacheStoreError }: HealthReport): string {
  return DataStoreError || CacheStoreError;
}

/** Walks through the store for requests at the same time; training has the other threads. */
const QUESTIONS_AT_WORK = 2;

function finder(questions: Questions, config: Config, { dataPath }: StorePaths, clock: Clock): FindRelated {
  const { positive_feedback_types, positive_feedback_ttl } = config.recommend.data_source;
  const positiveTypes = positiveKindNames(positive_feedback_types);
  const common = { dataPath, positiveTypes, positiveTtlMs: ttlMs(positive_feedback_ttl) };
  const { clock_error } = config.server;
  return (relation, row, k, signal) => {
    const asked = { kind: 'related', ...common, relation, row, k, untilMs: clock() + clock_error } as const;
    return questions.ask<'related'>((cancelled) => ({ ...asked, cancelled }), signal);
  };
}
