import type { Config } from '../config/config.ts';
import type { EvaluationRow } from '../domain/evaluation-schemas.ts';
import { byRecommenderKey, RECOMMENDERS } from '../domain/recommenders.ts';
import { type Estimate, estimate } from '../model/evaluation/confidence-interval.ts';
import { type EvaluationPart, evaluateUsers, mergeParts } from '../model/evaluation/evaluate.ts';
import type { Ranker } from '../model/evaluation/ranker.ts';
import { bestPopularity, randomRanker, seenBy } from './baselines.ts';
import { MAIN_METRIC, showWindow } from './conclusion.ts';
import type { Trial } from './hold-out-protocol.ts';
import type { Recommend } from './own-service.ts';
import { TrialService } from './trial-service.ts';

/** List lengths at which is measured. */
const CUTOFFS = [10, 20] as const;

/** Further ways to configure the service, by name. */
export type Variants = readonly (readonly [name: string, recommend: Recommend])[];

/** Told what is being done, and how many of how many ways to recommend are judged. */
export type OnEvaluation = (stage: string, done: number, total: number) => void;

const SERVED = 'served lists';

/** A row before it is judged. */
type Way = Omit<EvaluationRow, 'metrics' | 'againstServed'>;

/** Popularity at its best window, and chance. */
const REFERENCES = 2;
const ONE_RECOMMENDER: Recommend['offline'] = {
  ...byRecommenderKey(() => false),
  enable_click_through_prediction: false,
};

/**
 * Judges the whole service as configured, each recommender alone, popularity with the window chosen on the known part,
 * and chance, all on the same users: the full catalogue less what a user has any feedback on.
 * @param onStage told what is being done, and how many of the ways are judged
 */
export async function evaluateService(
  trial: Trial,
  config: Config,
  options: {
    readonly seed: number;
    readonly variants?: Variants;
    readonly onStage?: OnEvaluation;
  },
): Promise<EvaluationRow[]> {
  const { seed, variants = [], onStage = () => {} } = options;
  const longest = Math.max(...CUTOFFS);
  const service = await TrialService.create(trial, config);
  const judged: Omit<EvaluationRow, 'againstServed'>[] = [];
  const total = 1 + RECOMMENDERS.length + variants.length + REFERENCES;
  const tell = (stage: string) => onStage(`hold-out: ${stage}`, judged.length, total);
  const perUser: (readonly number[])[] = [];
  const judge = (way: Way, ranker: Ranker) => {
    const part = evaluateUsers(ranker, seenBy(trial), trial.test.byUser, CUTOFFS, {
      first: 0,
      end: trial.test.userCount,
    });
    judged.push({ ...way, metrics: metricsOf(part) });
    perUser.push(part.values.get(MAIN_METRIC) ?? []);
  };
  const serve = async (way: Way, recommend: Recommend) => {
    const { lists, fitSeconds } = await service.serve(recommend, longest, (stage) =>
      tell(`${way.name}: ${stage}`),
    );
    judge({ ...way, fitSeconds }, listRanker(lists));
  };
  try {
    await serve({ name: SERVED, role: 'served' }, {});
    // Right after, for where what is learned is the same, a fit that follows sees it and learns nothing.
    for (const [name, recommend] of variants) await serve({ name, role: 'variant' }, recommend);
    for (const name of RECOMMENDERS) {
      await serve(
        { name: `${name} alone`, role: 'alone', recommender: name },
        { offline: ONE_RECOMMENDER, online: { fallback_recommend: [name] } },
      );
    }
  } finally {
    await service.close();
  }
  tell('references');
  const popularity = bestPopularity(trial, seed);
  const windowHours = Number.isFinite(popularity.windowHours) ? popularity.windowHours : null;
  const name = `popular, window chosen on training data (${showWindow(windowHours)})`;
  judge({ name, role: 'reference', windowHours }, popularity.ranker);
  judge({ name: 'random', role: 'reference' }, randomRanker(trial, seed));
  return judged.map((row, at) => ({ ...row, againstServed: difference(perUser[at]!, perUser[0]!) }));
}

function metricsOf(part: EvaluationPart): Record<string, Estimate> {
  return Object.fromEntries(mergeParts([part], CUTOFFS).metrics);
}

/** The mean difference over the same users, whose interval is far smaller than that of two means apart. */
function difference(values: readonly number[], served: readonly number[]): Estimate {
  return estimate(values.map((value, at) => value - served[at]!));
}

function listRanker(lists: ReadonlyMap<number, Uint32Array>): Ranker {
  return {
    topItems: (userRow, k) => lists.get(userRow)!.subarray(0, k),
    scoreItems: () => {
      throw new Error('a served list has no scores of other items');
    },
  };
}
