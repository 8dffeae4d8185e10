import type { Config } from '../config/config.ts';
import { positiveFeedback } from '../config/positive-feedback.ts';
import type { Clock } from '../domain/clock.ts';
import { loadKernels } from '../kernel/load-kernels.ts';
import type { Ranked } from '../memory/ranked-rows.ts';
import { limitRepeats } from '../platform/log/limit-log-repeats.ts';
import type { Logger } from '../platform/log/log.ts';
import type { Teardown } from '../platform/process/teardown.ts';
import type { FindRelated } from '../recommend/neighbors/item-neighbors.ts';
import { askedUser } from '../recommend/neighbors/user-neighbors.ts';
import type { CountsStorage } from '../recommend/popularity/live-counts.ts';
import { popularitySpans } from '../recommend/popularity/popularity-counts.ts';
import { type Recommendation, startRecommendation } from '../recommend/start-recommendation.ts';
import type { CacheStore } from '../store/cache-store.ts';
import type { Questions } from '../store/cluster.ts';
import type { DataStore } from '../store/data-store.ts';
import type { StorePaths } from '../store/open/open-store.ts';
import type { StartedStores } from '../store/open/start-stores.ts';
import { SAVED_COUNTS_NAME } from '../threads/messages.ts';
import { type BackgroundTraining, createTrainer, createTraining, openPool } from './fit/create-training.ts';
import { GenerationFollower } from './fit/generation-follower.ts';
import { cacheShelf, clusterShelf, type ModelShelf, NO_TERM } from './generation/generation-storage.ts';
import { neighborFinder, vectorClusterer, vectorFinder } from './pool/finders.ts';
import type { WorkerPool } from './pool/worker-pool.ts';
import { TaskList } from './tasks/task-list.ts';
import { Webhooks } from './tasks/webhooks.ts';
import { restoreGeneration } from './training/restore-generation.ts';

/** Time between two publications of the counts, milliseconds: what has come since is told by the commits. */
const PUBLISH_COUNTS_MS = 600_000;

/** Work in the background, and the state in memory that it serves. */
export interface Background extends BackgroundTraining {
  readonly pool: WorkerPool;
  readonly recommendation: Recommendation;
  readonly tasks: TaskList;
  /** Resolves when the saved generation serves, or is known not to be of use. Never rejects. */
  readonly isRestored: Promise<void>;
}

export interface BackgroundOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly clock: Clock;
  /** Time that has passed, milliseconds; it never goes back. */
  readonly elapsedMs: Clock;
  /** Time from the last feedback to a first fit, milliseconds. */
  readonly settleMs: number;
}

/** Starts the workers, which read the saved generation back, and loads what is kept in memory. */
export async function startBackground(
  options: BackgroundOptions,
  stores: Omit<StartedStores, 'noteReady'>,
  teardown: Teardown,
): Promise<Background> {
  const { config, log, clock, elapsedMs } = options;
  const { identity, shownLog, data, cache, paths, cluster, questions, sharedDatabase, objects } = stores;
  const pool = openPool(config, log);
  teardown.add(() => pool.close());
  // Workers read it back while this thread loads the catalogue.
  const shelf =
    cluster === undefined
      ? cacheShelf(paths.cachePath, cache)
      : clusterShelf(cluster, { dsn: sharedDatabase!, objects }, cache);
  const trainer = createTrainer(config, paths, shelf, pool, log);
  const restored = restoreGeneration(trainer, log);
  restored.catch(() => {});
  const asks = data.local.isPartial;
  const findRelated = asks ? relatedElsewhere(questions!, data) : neighborFinder(pool, config, paths, clock);
  const recommendation = await startRecommendation({
    ...{ config, identity, shownLog, data, cache, clock, elapsedMs, findRelated },
    vectors: {
      instantiate: loadKernels,
      findAside: vectorFinder(pool),
      clusterAside: vectorClusterer(pool),
      slots: pool.slots,
      servingSlot: pool.servingSlot,
    },
    worker: {
      make: (userRows, isAwaited) => training.listsOnRequest.make(userRows, isAwaited),
      answer: (question) => training.listsOnRequest.answer(question),
    },
    onTrouble: limitRepeats((message, error) => log.error({ err: error }, message)),
    onNote: (message) => log.info(message),
    countsStorage: countsStorage(pool, config, shelf, cache, paths, options),
  });
  teardown.add(() => recommendation.lists.close());
  teardown.add(() => recommendation.answered.save());
  teardown.add(() => recommendation.live.close());
  teardown.add(() => recommendation.vectors.close());
  const webhooks = webhooksOf(config, log);
  teardown.add(() => webhooks?.stop());
  const tasks = new TaskList(clock, cache, (task, before) => webhooks?.note(task, before), elapsedMs);
  await tasks.restore();
  teardown.add(() => tasks.flush());
  const own = { pool, trainer, recommendation, tasks };
  const training: BackgroundTraining = createTraining({ ...stores, ...options, ...own });
  if (asks) recommendation.generations.similarUsers = undefined;
  else if (questions !== undefined) answerOthers(questions, data, { ...recommendation, findRelated });
  teardown.add(() => training.fits.stop());
  const restoring = training.fits.restore(restored);
  teardown.add(() => training.search.stop());
  const follower = cluster && new GenerationFollower(cluster, training.fits, log);
  teardown.add(() => follower?.stop());
  teardown.add(() => recommendation.explainer.close());
  const isRestored = restoring.then(() => follower?.start());
  return { ...training, pool, recommendation, tasks, isRestored };
}

function webhooksOf({ webhooks }: Config, log: Logger): Webhooks | undefined {
  const { url, key, quality_fall: qualityFall } = webhooks;
  return url === '' ? undefined : new Webhooks(url, { key, qualityFall, log });
}

/** Keeps the counts of feedback in the cache store and has a worker bring it up to date; one that leads publishes them, too. */
function countsStorage(
  pool: WorkerPool,
  { recommend }: Config,
  shelf: ModelShelf,
  cache: CacheStore,
  paths: StorePaths,
  { clock, elapsedMs }: Pick<BackgroundOptions, 'clock' | 'elapsedMs'>,
): CountsStorage {
  let publishedMs = Number.NEGATIVE_INFINITY;
  const settings = {
    positiveTypes: positiveFeedback(recommend).positiveTypes,
    ...popularitySpans(recommend),
  };
  return {
    read: () => cache.getBlob(SAVED_COUNTS_NAME),
    renew() {
      const place = shelf.place();
      const shared = place.kind === 'postgres' ? place : undefined;
      const leads = shared !== undefined && shared.epoch !== NO_TERM;
      const publishes = leads && elapsedMs() - publishedMs >= PUBLISH_COUNTS_MS;
      if (publishes) publishedMs = elapsedMs();
      return pool.run({ kind: 'recount', ...settings, ...paths, shared, publishes, nowMs: clock() });
    },
  };
}

type Question = Pick<Parameters<FindRelated>, 0 | 1 | 2>;

/** Finds rows most like one by asking a node that has a copy of all data, where this one has none: rows mean the same there. */
function relatedElsewhere(questions: Questions, data: Pick<DataStore, 'barrier'>): FindRelated {
  return async (relation, row, k, signal) => {
    const found = (await questions.ask([relation, row, k], signal)) as Ranked;
    // Who they are is here once they are asked for.
    if (relation !== 'items-by-users') await data.barrier?.pass([...found.rows]);
    return found;
  };
}

/** Answers such questions of others. */
function answerOthers(
  questions: Questions,
  data: DataStore,
  { generations, histories, live, findRelated }: Recommendation & { readonly findRelated: FindRelated },
): void {
  questions.answer(async (question) => {
    const { 0: relation, 1: row, 2: k } = question as Question;
    await data.barrier?.pass();
    const asked =
      relation === 'items-by-users'
        ? undefined
        : await histories.use(row, (history) => askedUser(history, relation, live.isPositive));
    const laidOut = asked && (await generations.similarUsers?.(asked, k));
    const { rows, scores } = laidOut ?? (await findRelated(relation, row, k));
    return { rows: [...rows], scores: [...scores] };
  });
}
