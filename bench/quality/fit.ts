/** Trains one model of the quality command and hands back what ranks with it. */

import type { Interactions } from '../../src/dataset/interactions.ts';
import { fingerprint } from '../../src/dataset/interactions.ts';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import { driveAls, finish, trainedModel } from '../../src/model/als.ts';
import { placeAls } from '../../src/model/als-memory.ts';
import { ALS_DEFAULTS, alsSettings } from '../../src/model/als-settings.ts';
import { BPR_DEFAULTS, fitBpr } from '../../src/model/bpr.ts';
import type { Ranker } from '../../src/model/evaluation/ranker.ts';
import type { MatrixFactorization } from '../../src/model/mf-model.ts';
import { createMfRanker } from '../../src/model/mf-ranker.ts';
import { MfScorer, placeModel } from '../../src/model/mf-scorer.ts';
import type { NeighborTable } from '../../src/model/neighbor-table.ts';
import { createTableRanker } from '../../src/model/neighbor-table-ranker.ts';
import { createNeighborRanker, fitNeighbors, NEIGHBOR_DEFAULTS } from '../../src/model/neighbors.ts';
import { createPopularityRanker } from '../../src/model/popularity.ts';
import { beginSlimPhase, SLIM_PHASES, slimTable } from '../../src/model/slim.ts';
import { placeSlim } from '../../src/model/slim-memory.ts';
import { SLIM_DEFAULTS, slimSettings } from '../../src/model/slim-settings.ts';
import { AlsWorkers } from './als-workers.ts';
import { SlimWorkers } from './slim-workers.ts';

export const RANKING_MODELS = ['als', 'bpr', 'slim', 'items', 'popular'] as const;
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
    case 'items':
      return { neighbors: NEIGHBOR_DEFAULTS.neighbors, shrink: NEIGHBOR_DEFAULTS.shrink };
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
      return mfRanker(await fitAlsInThreads(train, settings, workers));
    case 'bpr':
      return mfRanker(finish(fitBpr(train, settings, loadKernels)));
    case 'slim':
      return createTableRanker(await fitSlimInThreads(train, settings, workers), train.byUser);
    case 'items':
      return createNeighborRanker(finish(fitNeighbors(train, settings, loadKernels)), train.byUser);
    case 'popular':
      return createPopularityRanker(train.byItem);
  }
}

async function fitAlsInThreads(
  train: Interactions,
  settings: Settings,
  workers: number,
): Promise<MatrixFactorization> {
  const task = placeAls(train, alsSettings(settings), workers);
  const threads = await AlsWorkers.start(task);
  try {
    for await (const _epoch of driveAls(task, (phase) => threads.run(phase)));
  } finally {
    await threads.close();
  }
  return trainedModel(task, fingerprint(train));
}

async function fitSlimInThreads(
  train: Interactions,
  settings: Settings,
  workers: number,
): Promise<NeighborTable> {
  const task = placeSlim(train, slimSettings(settings), workers);
  const threads = await SlimWorkers.start(task);
  try {
    for (const phase of SLIM_PHASES) {
      beginSlimPhase(task);
      await threads.run(phase);
    }
  } finally {
    await threads.close();
  }
  return slimTable(task, fingerprint(train));
}

function mfRanker(model: MatrixFactorization): Ranker {
  const placed = placeModel(model, loadKernels);
  return createMfRanker(new MfScorer(placed, loadKernels(placed.memory)));
}
