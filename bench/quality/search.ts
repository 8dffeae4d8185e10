/** A seeded random search of settings on the validation part of a set; the test part is never looked at. */
import { createRandom, type Random } from '../../src/domain/random.ts';
import { evaluateFullCatalogue } from '../../src/model/evaluation/evaluate.ts';
import { fitRanker, type RankingModel, type Settings } from './fit.ts';
import type { RankingSet } from './load.ts';

/** One tried setting and the NDCG@10 that it reached on the validation part. */
export interface Trial {
  readonly settings: Settings;
  readonly ndcg: number;
}

/** A number between two positive bounds, uniform in its logarithm, to two significant digits. */
function logUniform(random: Random, least: number, most: number): number {
  return Number((least * (most / least) ** random.float()).toPrecision(2));
}

/** What is searched for each model; settings given on the command line stay as given. */
const SPACES: Readonly<Record<RankingModel, (random: Random) => Settings>> = {
  als: (random) => ({
    regularization: logUniform(random, 1e-3, 0.3),
    unobservedWeight: logUniform(random, 3e-3, 1),
    epochs: 5 + random.below(16),
  }),
  bpr: (random) => ({
    learningRate: logUniform(random, 0.01, 0.2),
    regularization: logUniform(random, 1e-3, 0.1),
    epochs: 20 + random.below(181),
  }),
  slim: (random) => ({
    regularization: logUniform(random, 1, 500),
    frequencyRegularization: random.below(5) / 4,
    userExponent: random.below(5) / 4,
  }),
  items: (random) => ({ neighbors: 20 + random.below(481), shrink: logUniform(random, 0.5, 200) }),
  popular: () => ({}),
};

/** Tries the base settings first and then random ones; the best trial comes first. */
export async function searchSettings(
  model: RankingModel,
  set: RankingSet,
  base: Settings,
  fixed: Settings,
  options: { readonly trials: number; readonly seed: number; readonly workers: number },
  tell: (trial: Trial) => void,
): Promise<Trial[]> {
  const random = createRandom(options.seed);
  const { train, test } = set.validation;
  const trials: Trial[] = [];
  for (let at = 0; at < options.trials; at++) {
    const settings = { ...base, ...(at === 0 ? {} : SPACES[model](random)), ...fixed };
    const ranker = await fitRanker(model, train, settings, options.workers);
    const { metrics } = evaluateFullCatalogue(ranker, train.byUser, test, [10]);
    const trial = { settings, ndcg: metrics.get('NDCG@10')?.mean ?? 0 };
    tell(trial);
    trials.push(trial);
  }
  return trials.sort((a, b) => b.ndcg - a.ndcg);
}
