import { createLogger } from '../../src/domain/log.ts';
import type { Stores } from '../../src/store/open-store.ts';
import type { WorkerPool } from '../../src/worker/pool.ts';
import type { OnProgress } from '../../src/worker/progress.ts';
import { Training, type TrainingOptions } from '../../src/worker/training.ts';
import { openIn, storeOptions, tempFolder } from '../store/helpers.ts';
import { storeLikes } from './likes.ts';

const NOW_MS = Date.parse('2024-06-01T00:00:00Z');
export const SETTINGS = { factors: 8, epochs: 12, regularization: 0.2, seed: 3 };

/** Stores with likes, and trainings on them. */
export interface TrainingBench {
  readonly stores: Stores;
  /** What was logged, a line each. */
  readonly lines: string[];
  training(more?: Partial<TrainingOptions>, pool?: WorkerPool): Training;
}

export async function trainingBench(sharedPool: WorkerPool, userCount = 500): Promise<TrainingBench> {
  const folder = tempFolder();
  const stores = openIn(folder);
  await storeLikes(stores, userCount);
  const lines: string[] = [];
  const { dataPath, cachePath } = storeOptions(folder);
  return {
    stores,
    lines,
    training: (more, pool = sharedPool) =>
      new Training(pool, {
        dataPath,
        cachePath,
        settings: SETTINGS,
        warmStart: false,
        positiveTypes: ['like'],
        positiveTtlMs: Number.POSITIVE_INFINITY,
        clockErrorMs: 0,
        listLengthMax: 100,
        memoryBytesMax: 2 ** 30,
        marks: stores.cache,
        clock: () => NOW_MS,
        log: createLogger('info', { write: (line: string) => void lines.push(line) }),
        ...more,
      }),
  };
}

/** A whole fit of the collaborative model: judged, then finished. */
export async function fitModel(training: Training, generation: number, onProgress?: OnProgress) {
  const start = await training.judge(onProgress);
  if (start === undefined) return undefined;
  if (start.kind === 'unchanged') return { ...start.model, unchanged: true, judged: undefined };
  const finished = await training.finish(start.judged, generation);
  return finished && { ...finished, unchanged: false, judged: start.judged };
}
