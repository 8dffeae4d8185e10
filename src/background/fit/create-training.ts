import type { Config } from '../../config/config.ts';
import { positiveFeedback } from '../../config/positive-feedback.ts';
import type { Clock } from '../../domain/clock.ts';
import { ttlMs } from '../../domain/duration.ts';
import { positiveWeights } from '../../domain/positive-feedback-types.ts';
import { automaticChoice, chooseRelaxedSimd } from '../../kernel/load-kernels.ts';
import { leastFootprint } from '../../model/als/memory-estimate.ts';
import { type AlsSettings, alsSettings } from '../../model/als/settings.ts';
import { memoryBudgetBytes } from '../../model/part/memory-budget.ts';
import { sampledSlots } from '../../model/part/sample-users-to-fit-memory.ts';
import type { Logger } from '../../platform/log/log.ts';
import { availableMemoryBytes } from '../../platform/process/machine.ts';
import type { TypeTest } from '../../recommend/history/counts-as-positive.ts';
import { popularitySpans } from '../../recommend/popularity/popularity-counts.ts';
import type { ListSettings } from '../../recommend/sources/list-settings.ts';
import type { Recommendation } from '../../recommend/start-recommendation.ts';
import type { CacheStore } from '../../store/cache-store.ts';
import type { Cluster } from '../../store/cluster.ts';
import type { DataStore, FeedbackColumns } from '../../store/data-store.ts';
import type { StorePaths } from '../../store/open/open-store.ts';
import type { PlacedGeneration } from '../../threads/messages.ts';
import type { ModelShelf } from '../generation/generation-storage.ts';
import { GivenModels } from '../generation/given-models.ts';
import { ListPass } from '../lists/list-pass.ts';
import { ListsOnRequest } from '../lists/lists-on-request.ts';
import { SerialQueue } from '../pool/serial-queue.ts';
import { WorkerPool } from '../pool/worker-pool.ts';
import { SettingsSearch } from '../search/settings-search.ts';
import type { TaskList } from '../tasks/task-list.ts';
import { AlsTraining } from '../training/als-training.ts';
import { PartTrainer } from '../training/part-trainer.ts';
import { TrainingDataLoader } from '../training/training-data-loader.ts';
import { feedbackFacts } from './feedback-facts.ts';
import type { GenerationFitOptions } from './fit-collaborators.ts';
import { FitSchedule } from './fit-schedule.ts';
import { GenerationFit } from './generation-fit.ts';

export interface TrainingParts {
  readonly config: Config;
  readonly paths: StorePaths;
  readonly data: DataStore;
  readonly cache: CacheStore;
  readonly cluster: Cluster | undefined;
  readonly pool: WorkerPool;
  readonly trainer: PartTrainer;
  readonly recommendation: Recommendation;
  readonly tasks: TaskList;
  readonly clock: Clock;
  readonly elapsedMs: Clock;
  readonly log: Logger;
  /** As in `FitScheduleParts`. */
  readonly settleMs: number;
}

export interface BackgroundTraining {
  readonly fits: FitSchedule;
  readonly search: SettingsSearch;
  readonly given: GivenModels;
  readonly listsOnRequest: ListsOnRequest;
}

/** The most bytes that a fit may take by this configuration, on this machine. */
function fitMemoryBytesMax({ worker }: Config): number {
  return memoryBudgetBytes(worker.memory_max_mb, availableMemoryBytes());
}

/** Puts together what fits models, writes lists and searches for settings; nothing begins yet. */
export function createTraining(parts: TrainingParts): BackgroundTraining {
  const { config, data, cluster, trainer, recommendation, tasks, clock, log } = parts;
  const { collaborative } = config.recommend;
  const queue = new SerialQueue();
  const given = new GivenModels({
    ...{ pool: parts.pool, shelf: trainer.options.shelf, dataPath: parts.paths.dataPath, clock },
    memoryBytesMax: fitMemoryBytesMax(config),
    onChange() {
      // A failure stands among the tasks. A fit that runs may have read the model before, so another follows it.
      const again = () => void fits.run().catch(() => {});
      if (tasks.current.some(({ Kind }) => Kind === 'fit')) fits.run().then(again, again);
      else again();
    },
  });
  const { loader, als, ...shared } = createFit(parts, given);
  const fits = new FitSchedule({
    ...shared,
    servingSlot: parts.pool.servingSlot,
    queue,
    recommendation,
    periodMs: collaborative.model_fit_period,
    firstPeriodMs: config.recommend.offline.check_recommend_period,
    settleMs: parts.settleMs,
    log,
    tasks,
    facts: () => feedbackFacts(config, data, recommendation),
    cluster,
    makesLists: () => !data.local.isPartial && makesLists(config, cluster),
  });
  const search = new SettingsSearch(
    { trainer, loader, als, queue },
    {
      periodMs: collaborative.model_search_period,
      epochs: collaborative.model_search_epoch,
      trials: collaborative.model_search_trials,
      clock,
      log,
      tasks,
      maySearch: () => fits.mayFit,
    },
  );
  data.onChange(({ added }) => {
    if (hasPositive(added, recommendation.live.isPositive)) fits.noteFeedback();
  });
  return { fits, search, given, listsOnRequest: shared.listsOnRequest };
}

/** A node fills a cache of its own for the requests that it answers; one that all share is filled by those that may learn. */
function makesLists({ node, database }: Config, cluster: Cluster | undefined): boolean {
  return cluster === undefined || node.role !== (hasOwnLists(database) ? 'worker' : 'server');
}

function hasOwnLists({ cache_store }: Config['database']): boolean {
  return cache_store.startsWith('lmdb:');
}

/** Creates the trainer that learns the parts of a generation and reads them back. */
export function createTrainer(
  config: Config,
  { dataPath }: StorePaths,
  shelf: ModelShelf,
  pool: WorkerPool,
  log: Logger,
): PartTrainer {
  return new PartTrainer(pool, {
    dataPath,
    shelf,
    positiveTypes: positiveFeedback(config.recommend).positiveTypes,
    readTypes: config.recommend.data_source.read_feedback_types,
    serving: { slots: pool.slots, listLengthMax: listLengthMax(config) },
    memoryBytesMax: fitMemoryBytesMax(config),
    log,
  });
}

/** Creates the parts of a fit: it reads feedback, learns, writes lists. */
function createFit(
  { config, paths, cache, cluster, pool, trainer, recommendation, clock, log }: TrainingParts,
  given: GivenModels,
) {
  const { server, recommend } = config;
  const { collaborative, data_source } = recommend;
  const memoryBytesMax = fitMemoryBytesMax(config);
  const clockErrorMs = server.clock_error;
  const read = { ...paths, ...positiveFeedback(recommend), clockErrorMs, clock };
  const settings = configuredAls(config);
  const als = new AlsTraining(trainer, { settings, warmStart: collaborative.warm_start, states: cache, log });
  const { seed } = alsSettings(settings);
  const weights = positiveWeights(data_source.positive_feedback_types);
  const halfLifeMs = ttlMs(data_source.feedback_half_life);
  const loader = new TrainingDataLoader(pool, {
    ...read,
    positiveWeights: weights,
    halfLifeMs,
    seed,
    memoryBytesMax,
    footprint: leastFootprint(
      alsSettings(settings),
      weights !== undefined || halfLifeMs < Number.POSITIVE_INFINITY,
      sampledSlots(pool.trainingSlots),
      { ...trainer.options.serving, slots: sampledSlots(pool.slots) },
    ),
    log,
  });
  const listPass = new ListPass(pool, {
    ...read,
    userNeighborType: recommend.user_neighbors.neighbor_type,
    settings: recommendation.settings,
    versioned: recommendation.lists.isVersioned,
    youngMs: recommend.offline.refresh_recommend_period / 2,
    states: cache,
    sharing: hasOwnLists(config.database) ? undefined : cluster,
    vectors: recommendation.vectors,
    generations: recommendation.generations,
    log,
  });
  const planOf = (generation: PlacedGeneration) => listPass.planner.plan(generation, recommendation.live);
  const listsOnRequest = new ListsOnRequest(pool, planOf, clock, clockErrorMs);
  void recommendation.live.settled.then(() => listsOnRequest.planAnew());
  const onReading = () => recommendation.sinceFit.beginReading();
  const generationFit = new GenerationFit(
    { pool, trainer, loader, als, planOf, onReading, given: () => given.take() },
    generationFitOptions(config, recommendation.settings, log),
  );
  return { loader, als, listPass, listsOnRequest, generationFit };
}

/** Where a model is asked for a longer list than `n` and the cached list together, it scores item by item. */
function listLengthMax({ server, recommend }: Config): number {
  return server.max_n + recommend.cache_size;
}

function configuredAls({ recommend }: Config): Partial<AlsSettings> {
  const { collaborative } = recommend;
  return {
    factors: collaborative.factors,
    epochs: collaborative.epochs,
    regularization: collaborative.regularization,
    regularizationExponent: collaborative.regularization_exponent,
    unobservedWeight: collaborative.unobserved_weight,
    seed: collaborative.seed,
  };
}

function generationFitOptions(
  { recommend }: Config,
  { popular, collaborative: isCollaborative, cacheSize }: ListSettings,
  log: Logger,
): GenerationFitOptions {
  const { data_source, item_neighbors, user_neighbors, offline, online, collaborative } = recommend;
  const usesUsers = offline.enable_user_based_recommend || online.fallback_recommend.includes('user_based');
  const clickThrough = offline.enable_click_through_prediction && recommend.ranker === 'auto';
  return {
    readTypes: data_source.read_feedback_types,
    clickThrough,
    candidates: clickThrough ? { popular, collaborative: isCollaborative, cacheSize } : undefined,
    neighborType: item_neighbors.neighbor_type,
    userNeighborType: user_neighbors.neighbor_type,
    usesUsers,
    enableIndex: item_neighbors.enable_index,
    indexRecall: item_neighbors.index_recall,
    spans: popularitySpans(recommend),
    seed: collaborative.seed,
    log,
  };
}

function hasPositive({ length, types }: FeedbackColumns, isPositive: TypeTest): boolean {
  return types.subarray(0, length).some(isPositive);
}

/** The worker threads as configured, and a line that says what they are. */
export function openPool(config: Config, log: Logger): WorkerPool {
  chooseRelaxedSimd(config.worker.relaxed_simd);
  const pool = new WorkerPool(config.worker.threads, {
    onTrouble: (message, error) => log.error({ err: error }, message),
  });
  const fitMemoryMaxMb = Math.floor(fitMemoryBytesMax(config) / 2 ** 20);
  log.info({ threads: pool.trainingSlots, kernels: automaticChoice(), fitMemoryMaxMb }, 'worker threads');
  return pool;
}
