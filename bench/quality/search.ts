/**
 * A seeded search of settings on the validation part of a set, by the same successive halving as the service's own
 * search; the test part is never looked at.
 */

import { type Measured, successiveHalving } from '../../src/background/search/successive-halving.ts';
import type { Interactions } from '../../src/dataset/interactions.ts';
import { type CompressedMatrix, rowIndices } from '../../src/dataset/interactions.ts';
import type { HeldOutPairs } from '../../src/dataset/training-data.ts';
import { createRandom, type Random } from '../../src/domain/random.ts';
import { viewOf } from '../../src/memory/memory-layout.ts';
import { logUniform, proposeAls } from '../../src/model/als/search-space.ts';
import { type AlsSettings, alsSettings } from '../../src/model/als/settings.ts';
import { sizedFactors } from '../../src/model/als/settings-by-size.ts';
import { evaluateUsers } from '../../src/model/evaluation/evaluate.ts';
import { evaluateSampled, type SampledCase } from './evaluations.ts';
import { fitAlsInThreads, fitRanker, type RankingModel, type Settings } from './fit.ts';
import type { RankingSet } from './load.ts';

/** One tried setting and the NDCG@10 that it reached on the validation part. */
export interface Trial {
  readonly settings: Settings;
  readonly ndcg: number;
}

/** Users of the validation part that a trial is judged by at most. */
const JUDGED_USERS = 2000;
/** Epochs of the longest trials, against those of the settings to begin with. */
const LONGER = 2;

type Propose = (random: Random, base: Settings, count: number, set: RankingSet) => Settings[];

/** Draws settings one by one. */
function each(draw: (random: Random) => Settings): Propose {
  return (random, _base, count) => Array.from({ length: count }, () => draw(random));
}

/** The settings with the number of factors that they come to on these data. */
function sized(base: Settings, train: Interactions): AlsSettings {
  const settings = alsSettings(base);
  return { ...settings, factors: sizedFactors(settings, train) };
}

/** Search space of each model; settings given on the command line stay as given. */
const SPACES: Readonly<Record<RankingModel, Propose>> = {
  als: (random, base, count, { validation: { train } }) =>
    proposeAls(random, sized(base, train), count, {
      meanCount: train.count / Math.max(1, train.userCount),
      itemCount: train.itemCount,
      factorsMax: LONGER * sized(base, train).factors,
    }).map(({ regularization, unobservedWeight, regularizationExponent, factors }) => ({
      regularization,
      unobservedWeight,
      regularizationExponent,
      factors,
    })),
  bpr: each((random) => ({
    learningRate: logUniform(random, 0.01, 0.2),
    regularization: logUniform(random, 1e-3, 0.1),
  })),
  slim: each((random) => ({
    regularization: logUniform(random, 1, 500),
    frequencyRegularization: random.below(5) / 4,
    userExponent: random.below(5) / 4,
  })),
  neighbors: each((random) => ({ neighbors: 20 + random.below(481), shrink: logUniform(random, 1, 1000) })),
  'item-knn': each(() => ({})),
  popular: each(() => ({})),
};

/** Tries the base settings and then random ones; the best trial comes first. */
export async function searchSettings(
  model: RankingModel,
  set: RankingSet,
  base: Settings,
  fixed: Settings,
  options: { readonly trials: number; readonly seed: number; readonly workers: number },
  tell: (trial: Trial) => void,
): Promise<Trial[]> {
  const present = { ...base, ...fixed };
  const drawn = SPACES[model](createRandom(options.seed), present, options.trials, set);
  const hasEpochs = base.epochs !== undefined;
  const withEpochs = (settings: Settings, epochs: number): Settings =>
    hasEpochs && fixed.epochs === undefined ? { ...settings, epochs } : settings;
  const presentEpochs = present.epochs ?? 1;
  const { trials } = await successiveHalving<Settings>({
    present,
    candidates: drawn.map((settings) => ({ ...base, ...settings, ...fixed })),
    epochsMax: fixed.epochs ?? LONGER * presentEpochs,
    presentEpochs,
    measure: (settings, epochs) => measure(model, set, withEpochs(settings, epochs), options.workers),
    isOver: () => false,
    nowMs: () => performance.now(),
    tell: ({ settings, epochs, quality }) => tell({ settings: withEpochs(settings, epochs), ndcg: quality }),
  });
  return (
    trials
      // The epochs done, which are a few more than the best of them: that one is partly chance, and the model is made of
      // more records in the end.
      .map(({ settings, epochs, quality }) => ({ settings: withEpochs(settings, epochs), ndcg: quality }))
      .sort((a, b) => b.ndcg - a.ndcg)
  );
}

async function measure(
  model: RankingModel,
  set: RankingSet,
  settings: Settings,
  workers: number,
): Promise<Measured> {
  const { train, test } = set.validation;
  const isSampled = set.cases.length > 0;
  if (model === 'als' && !isSampled) {
    const { task, outcome } = await fitAlsInThreads(train, settings, workers, pairsOf(test));
    const values = viewOf(task.memory, task.layout, 'bestGains', 'f32').slice();
    return { values, epochs: outcome.epochs, bestEpoch: outcome.bestEpoch };
  }
  const ranker = await fitRanker(model, train, settings, workers);
  const epochs = settings.epochs ?? 0;
  if (isSampled) {
    const values = sampledCases(set).map(
      (one) => evaluateSampled(ranker, [one], [10]).metrics.get('NDCG@10')?.mean ?? 0,
    );
    return { values, epochs, bestEpoch: epochs };
  }
  const users = { first: 0, end: test.rowCount, limit: JUDGED_USERS };
  const part = evaluateUsers(ranker, train.byUser, test, [10], users);
  return { values: part.values.get('NDCG@10') ?? [], epochs, bestEpoch: epochs };
}

/**
 * Validation records among as many items drawn at random as in the test: the settings that do best there
 * are not those that do best on the whole catalogue.
 */
function sampledCases({ cases, validation: { train, test } }: RankingSet): SampledCase[] {
  const random = createRandom(1);
  const wanted = cases[0]?.negativeRows.length ?? 0;
  const sampled: SampledCase[] = [];
  for (let userRow = 0; userRow < test.rowCount && sampled.length < JUDGED_USERS; userRow++) {
    const [itemRow] = rowIndices(test, userRow);
    if (itemRow === undefined) continue;
    const taken = new Set([...rowIndices(train.byUser, userRow), itemRow]);
    const negatives: number[] = [];
    for (let tries = 100 * wanted; tries > 0 && negatives.length < wanted; tries--) {
      const item = random.below(train.itemCount);
      if (!taken.has(item)) negatives.push(item);
    }
    sampled.push({ userRow, itemRow, negativeRows: Uint32Array.from(negatives) });
  }
  return sampled;
}

function pairsOf(matrix: CompressedMatrix): HeldOutPairs {
  const userRows = new Uint32Array(matrix.indices.length);
  for (let row = 0; row < matrix.rowCount; row++) {
    userRows.fill(row, matrix.indptr[row]!, matrix.indptr[row]! + rowIndices(matrix, row).length);
  }
  return { userRows, itemRows: matrix.indices };
}
