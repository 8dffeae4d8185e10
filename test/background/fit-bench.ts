import type { GenerationFitOptions } from '../../src/background/fit/fit-collaborators.ts';
import { GenerationFit } from '../../src/background/fit/generation-fit.ts';
import { cacheShelf } from '../../src/background/generation/generation-storage.ts';
import type { WorkerPool } from '../../src/background/pool/worker-pool.ts';
import { AlsTraining } from '../../src/background/training/als-training.ts';
import { PartTrainer } from '../../src/background/training/part-trainer.ts';
import { TrainingDataLoader } from '../../src/background/training/training-data-loader.ts';
import type { AlsSettings } from '../../src/model/als/settings.ts';
import { createLogger } from '../../src/platform/log/log.ts';
import type { Stores } from '../../src/store/open/open-store.ts';
import type { ListPlan } from '../../src/threads/messages.ts';
import { openIn, storeOptions, tempFolder } from '../store/helpers.ts';
import { storeLikes } from './likes.ts';

const NOW_MS = Date.parse('2024-06-01T00:00:00Z');
export const SETTINGS = { factors: 8, epochs: 12, regularization: 0.2, seed: 3 };

/** What differs from one fit to another. */
export interface FitChoices {
  readonly settings?: Partial<AlsSettings>;
  readonly warmStart?: boolean;
  readonly memoryBytesMax?: number;
  readonly pool?: WorkerPool;
  readonly options?: Partial<GenerationFitOptions>;
}

/** Everything that a fit is made with. */
export interface BenchFit {
  readonly trainer: PartTrainer;
  readonly loader: TrainingDataLoader;
  readonly als: AlsTraining;
  readonly fit: GenerationFit;
}

/** Stores with likes, and fits on them. */
export interface FitBench {
  readonly stores: Stores;
  /** What was logged, a line each. */
  readonly lines: string[];
  start(choices?: FitChoices): BenchFit;
}

export async function fitBench(sharedPool: WorkerPool, userCount = 500): Promise<FitBench> {
  const folder = tempFolder();
  const stores = openIn(folder);
  await storeLikes(stores, userCount);
  return fitBenchIn(folder, stores, sharedPool);
}

/** The same on stores that are open. */
export function fitBenchIn(folder: string, stores: Stores, sharedPool: WorkerPool): FitBench {
  const lines: string[] = [];
  const { dataPath, cachePath } = storeOptions(folder);
  const log = createLogger('info', { write: (line: string) => void lines.push(line) });
  const start = ({
    settings = SETTINGS,
    warmStart = false,
    memoryBytesMax = 2 ** 30,
    pool = sharedPool,
    options = {},
  }: FitChoices = {}): BenchFit => {
    const serving = { slots: pool.slots, listLengthMax: 100 };
    const types = { positiveTypes: ['like'], readTypes: [] };
    const shelf = cacheShelf(cachePath, stores.cache);
    const trainer = new PartTrainer(pool, { dataPath, shelf, ...types, serving, memoryBytesMax, log });
    const als = new AlsTraining(trainer, { settings, warmStart, states: stores.cache, log });
    const loader = new TrainingDataLoader(pool, {
      dataPath,
      positiveTypes: ['like'],
      positiveTtlMs: Number.POSITIVE_INFINITY,
      clockErrorMs: 0,
      seed: settings.seed ?? 1,
      memoryBytesMax,
      clock: () => NOW_MS,
    });
    const planOf = (): Promise<ListPlan> => {
      throw new Error('nothing is ranked here');
    };
    const fit = new GenerationFit(
      { pool, trainer, loader, als, planOf, onReading() {}, given: async () => undefined },
      {
        readTypes: [],
        clickThrough: false,
        neighborType: 'related',
        userNeighborType: 'related',
        usesUsers: false,
        enableIndex: false,
        indexRecall: 0.8,
        spans: { windowMs: 1e9, ttlMs: Number.POSITIVE_INFINITY },
        seed: 3,
        log,
        ...options,
      },
    );
    return { trainer, loader, als, fit };
  };
  return { stores, lines, start };
}

export const NO_PROGRESS = () => {};
