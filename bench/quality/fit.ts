import { fingerprint } from '../../src/dataset/fingerprint.ts';
import type { Interactions } from '../../src/dataset/interactions.ts';
import type { HeldOutPairs } from '../../src/dataset/training-data.ts';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import type { AlsOutcome } from '../../src/model/als/epochs-and-early-stopping.ts';
import { type AlsTask, placeAls } from '../../src/model/als/memory-layout.ts';
import { MfScorer, placeModel } from '../../src/model/als/mf-scorer.ts';
import type { MatrixFactorization } from '../../src/model/als/model.ts';
import { ALS_DEFAULTS, alsSettings } from '../../src/model/als/settings.ts';
import { qualityOf, trainedModel } from '../../src/model/als/train-and-serve.ts';
import type { Ranker } from '../../src/model/evaluation/ranker.ts';
import {
  createNeighborTask,
  finishTasks,
  runNeighborTask,
} from '../../src/model/neighbors/fill-neighbor-table.ts';
import { itemsByUsers } from '../../src/model/neighbors/incidence.ts';
import { placeSimilarity } from '../../src/model/neighbors/memory-layout.ts';
import { createDraft, type NeighborTable } from '../../src/model/neighbors/neighbor-table.ts';
import { placeSlim } from '../../src/model/slim/memory-layout.ts';
import { SLIM_DEFAULTS, slimSettings } from '../../src/model/slim/settings.ts';
import { slimTable } from '../../src/model/slim/train-and-serve.ts';
import { BPR_DEFAULTS, fitBpr } from '../baselines/bpr.ts';
import { driveAls, fitItemKnn } from '../fit-in-thread.ts';
import { createMfRanker } from '../rankers/factors-ranker.ts';
import { createTableRanker } from '../rankers/neighbor-table-ranker.ts';
import { createPopularityRanker } from '../rankers/popularity-ranker.ts';
import { learnSlim, PhaseWorkers } from './phase-workers.ts';

/** Trains one model of the quality command and hands back what ranks with it. */

export const RANKING_MODELS = ['als', 'bpr', 'slim', 'item-knn', 'neighbors', 'popular'] as const;
export type RankingModel = (typeof RANKING_MODELS)[number];

/** Settings by name, as the command line gives them. */
export type Settings = Readonly<Record<string, number>>;

/** The default settings of a model, which the command line may replace one by one. */
export function defaultSettings(model: RankingModel): Settings {
  switch (model) {
    case 'als': {
      const { solver: _solver, ...settings } = ALS_DEFAULTS;
      return settings;
    }
    case 'bpr':
      return { ...BPR_DEFAULTS };
    case 'slim':
      return { ...SLIM_DEFAULTS };
    case 'neighbors':
      return { neighbors: 100, shrink: 100 };
    case 'item-knn':
    case 'popular':
      return {};
  }
}

/** @param workers threads that train ALS and SLIM; the other models train in this one */
export async function fitRanker(
  model: RankingModel,
  train: Interactions,
  settings: Settings,
  workers: number,
): Promise<Ranker> {
  switch (model) {
    case 'als':
      return mfRanker((await fitAlsInThreads(train, settings, workers)).model);
    case 'bpr':
      return mfRanker(fitBpr(train, settings));
    case 'slim':
      return createTableRanker(await fitSlimInThreads(train, settings, workers), train.byUser);
    case 'item-knn':
      return createTableRanker(fitItemKnn(train, loadKernels), train.byUser);
    case 'neighbors':
      return createTableRanker(fitTable(train, settings), train.byUser);
    case 'popular':
      return createPopularityRanker(train.byItem);
  }
}

/** Trains ALS; with records held out it is judged by them after each epoch and ends in time. */
export async function fitAlsInThreads(
  train: Interactions,
  settings: Settings,
  workers: number,
  heldOut?: HeldOutPairs,
): Promise<{ readonly model: MatrixFactorization; readonly task: AlsTask; readonly outcome: AlsOutcome }> {
  const task = placeAls(train, alsSettings(settings), workers, heldOut && { heldOut });
  const threads = await PhaseWorkers.start('als', task, task.slots);
  try {
    const course = driveAls(task, (phase) => threads.run(phase));
    for (;;) {
      const step = await course.next();
      if (step.done !== true) continue;
      // Nobody cancels a training of this command.
      const outcome = step.value!;
      return { model: trainedModel(task, fingerprint(train), qualityOf(outcome)), task, outcome };
    }
  } finally {
    await threads.close();
  }
}

/** The neighbors that the API shows, by common users. */
function fitTable(train: Interactions, { neighbors = 100, shrink = 100 }: Settings): NeighborTable {
  const similarity = placeSimilarity(itemsByUsers(train), { shrink, listLengthMax: neighbors });
  const task = createNeighborTask(similarity, createDraft(train.itemCount, neighbors));
  runNeighborTask(task, loadKernels(similarity.memory), 0);
  return finishTasks([task], fingerprint(train));
}

async function fitSlimInThreads(
  train: Interactions,
  settings: Settings,
  workers: number,
): Promise<NeighborTable> {
  const task = placeSlim(train, slimSettings(settings), workers);
  await learnSlim(task);
  return slimTable(task, fingerprint(train));
}

function mfRanker(model: MatrixFactorization): Ranker {
  const placed = placeModel(model, loadKernels);
  return createMfRanker(new MfScorer(placed, loadKernels(placed.memory)));
}
