import { type CompressedMatrix, type Interactions, transpose } from '../../src/dataset/interactions.ts';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import { type AlsTask, placeAls } from '../../src/model/als/memory-layout.ts';
import { MfScorer, placeModel } from '../../src/model/als/mf-scorer.ts';
import type { MatrixFactorization } from '../../src/model/als/model.ts';
import { ALS_DEFAULTS, type AlsSettings, alsSettings } from '../../src/model/als/settings.ts';
import { sizedSettings } from '../../src/model/als/settings-by-size.ts';
import { trainedModel } from '../../src/model/als/train-and-serve.ts';
import { alsPhases } from '../../src/model/als/training-task.ts';
import { beginPhase } from '../../src/model/part/chunks-for-threads.ts';
import { evaluateFullCatalogue } from '../quality/evaluations.ts';
import { PhaseWorkers } from '../quality/phase-workers.ts';
import { createMfRanker } from '../rankers/factors-ranker.ts';
import { type ModelCase, sumTimes, type Times, timed } from './model-case.ts';
import type { HeldOut } from './power-law.ts';
import type { Reference } from './reference.ts';

/** Epochs after which the search for the reference's NDCG is given up. */
const EPOCHS_MAX = 40;
/** Users with held-out items that an evaluation ranks for. */
const EVALUATED_USERS = 1000;

/** A placed training and its threads; each `epoch` goes on from the last. */
class AlsRun {
  readonly task: AlsTask;
  readonly #threads: PhaseWorkers<'als'>;

  private constructor(task: AlsTask, threads: PhaseWorkers<'als'>) {
    this.task = task;
    this.#threads = threads;
  }

  static async start(task: AlsTask): Promise<AlsRun> {
    return new AlsRun(task, await PhaseWorkers.start('als', task, task.slots));
  }

  async epoch(): Promise<void> {
    for (const phase of alsPhases(1)) {
      beginPhase(this.task);
      await this.#threads.run(phase);
    }
  }

  close(): Promise<void> {
    return this.#threads.close();
  }
}

export async function alsEpochCase(
  { train }: HeldOut,
  given: Partial<AlsSettings> & { readonly factors: number },
  threads: number,
  aim: string,
  reference: Reference | undefined,
): Promise<ModelCase> {
  const { factors } = given;
  const run = await AlsRun.start(placeAls(train, alsSettings(given), threads));
  return {
    name: `ALS epoch, f=${factors}, ${threads} threads`,
    aim,
    against: 'implicit',
    ours: () => timed(() => run.epoch()),
    reference: reference && (() => reference.run('als_epoch', { factors })),
    close: () => run.close(),
  };
}

export async function alsScalingCase({ train }: HeldOut, given: Partial<AlsSettings>): Promise<ModelCase> {
  const start = (threads: number) => AlsRun.start(placeAls(train, alsSettings(given), threads));
  const [one, two] = [await start(1), await start(2)];
  return {
    name: 'ALS epoch, f=64, 2 workers against 1',
    aim: '0.54 (1.85 times)',
    against: '1 worker',
    ours: () => timed(() => two.epoch()),
    reference: () => timed(() => one.epoch()),
    close: async () => {
      await one.close();
      await two.close();
    },
  };
}

/** Seconds of training until the NDCG@100 that the reference ends with; evaluation stops the clock. */
export function alsQualityCase(
  data: HeldOut,
  given: Partial<AlsSettings>,
  threads: number,
  reference: Reference | undefined,
): ModelCase | undefined {
  if (reference === undefined) return undefined;
  let goal = 0;
  const result: { note?: string } = {};
  return {
    name: 'ALS, seconds to the NDCG@100 of implicit',
    aim: '0.3',
    against: 'implicit, 15 iterations',
    single: true,
    note: () => result.note,
    reference: async () => {
      const { factors, ...times } = await reference.run('als_fit');
      goal = ndcgOf(referenceModel(data.train, factors!, reference), data);
      return times;
    },
    ours: async () => {
      const reached = await trainUntil(goal, data, given, threads);
      result.note = `NDCG@100 ${reached.ndcg.toFixed(4)} after ${reached.epochs} epochs; implicit ${goal.toFixed(4)}`;
      const never = Number.POSITIVE_INFINITY;
      return reached.ndcg >= goal ? reached.times : { seconds: never, cpu: never };
    },
    close: async () => {},
  };
}

interface Reached {
  readonly times: Times;
  readonly epochs: number;
  readonly ndcg: number;
}

async function trainUntil(
  goal: number,
  data: HeldOut,
  given: Partial<AlsSettings>,
  threads: number,
): Promise<Reached> {
  // The reference transposes the matrix in its fit; here that is done when the set is read, so it is counted again.
  const transposing = await timed(async () => void transpose(data.train.byUser));
  let task!: AlsTask;
  const placing = await timed(async () => {
    task = placeAls(data.train, alsSettings(given), threads);
  });
  const run = await AlsRun.start(task);
  let times = sumTimes(transposing, placing);
  let ndcg = 0;
  let epochs = 0;
  for (; ndcg < goal && epochs < EPOCHS_MAX; epochs++) {
    times = sumTimes(times, await timed(() => run.epoch()));
    ndcg = ndcgOf(trainedModel(task, 0), data);
  }
  await run.close();
  return { times, epochs, ndcg };
}

function ndcgOf(model: MatrixFactorization, { train, test }: HeldOut): number {
  const placed = placeModel(model, loadKernels);
  const ranker = createMfRanker(new MfScorer(placed, loadKernels(placed.memory)));
  const held: CompressedMatrix = test.byUser;
  const { metrics } = evaluateFullCatalogue(ranker, train.byUser, held, [100], EVALUATED_USERS);
  return metrics.get('NDCG@100')!.mean;
}

function referenceModel(data: Interactions, factors: number, reference: Reference): MatrixFactorization {
  const { regularization, unobservedWeight, regularizationExponent } = sizedSettings(
    ALS_DEFAULTS,
    data.itemCount,
  );
  return {
    factors,
    userCount: data.userCount,
    itemCount: data.itemCount,
    regularization,
    unobservedWeight,
    regularizationExponent,
    seed: 1,
    fingerprint: 0,
    quality: {},
    userFactors: reference.factors('user_factors'),
    itemFactors: reference.factors('item_factors'),
  };
}
