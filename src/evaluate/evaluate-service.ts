import type { Config } from '../config/config.ts';
import { rowIndices } from '../dataset/interactions.ts';
import type { EvaluationRow } from '../domain/evaluation-schemas.ts';
import { byRecommenderKey, RECOMMENDERS, type RecommenderName } from '../domain/recommenders.ts';
import { type Estimate, estimate } from '../model/evaluation/confidence-interval.ts';
import { type EvaluationPart, evaluateUsers, mergeParts } from '../model/evaluation/evaluate.ts';
import type { Ranker } from '../model/evaluation/ranker.ts';
import { bestPopularity, randomRanker, seenBy } from './baselines.ts';
import { MAIN_METRIC, showWindow } from './conclusion.ts';
import { askedUsers, type Trial } from './hold-out-protocol.ts';
import { measureVariety } from './list-variety.ts';
import type { Recommend } from './own-service.ts';
import { sample } from './replay-plan.ts';
import { TrialService } from './trial-service.ts';

const CUTOFFS = [10, 20] as const;

const LIST_LENGTH = 10;
/** People whose lists are compared with each other. */
const PEOPLE_MAX = 1000;
/** Kinds of users by their likes: the most of each. */
const LIKES: readonly (readonly [name: string, most: number])[] = [
  ['1 to 3 likes', 3],
  ['4 to 10 likes', 10],
  ['11 to 30 likes', 30],
  ['more likes', Number.POSITIVE_INFINITY],
];

/** Further ways to configure the service, by name. */
export type Variants = readonly (readonly [name: string, recommend: Recommend])[];

/** Told what is being done, and how many of how many steps of it are done. */
export type OnEvaluation = (stage: string, done: number, total: number) => void;

const SERVED = 'served lists';

/** A row before it is judged. */
type Way = Omit<EvaluationRow, 'metrics' | 'againstServed' | 'variety' | 'byLikes'>;

/** Popularity at its best window, and chance. */
const REFERENCES = 2;
const ONE_RECOMMENDER: Recommend['offline'] = {
  ...byRecommenderKey(() => false),
  enable_click_through_prediction: false,
};

/** One recommender without the others and without ranking. */
export function aloneWay(recommender: RecommenderName): readonly [name: string, recommend: Recommend] {
  const recommend = { offline: ONE_RECOMMENDER, online: { fallback_recommend: [recommender] } };
  return [`${recommender} alone`, recommend];
}

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
  const service = new TrialService(trial, config);
  const judged: Omit<EvaluationRow, 'againstServed'>[] = [];
  const total = 1 + RECOMMENDERS.length + variants.length + REFERENCES;
  const tell = (stage: string) => onStage(`hold-out: ${stage}`, judged.length, total);
  const perUser: (readonly number[])[] = [];
  const seen = seenBy(trial);
  const people = sample(askedUsers(trial), PEOPLE_MAX, seed);
  const judge = (way: Way, ranker: Ranker) => {
    const part = evaluateUsers(ranker, seen, trial.test.byUser, CUTOFFS, {
      first: 0,
      end: trial.test.userCount,
    });
    const gains = part.values.get(MAIN_METRIC) ?? [];
    const lists = people.map((user) => ranker.topItems(user, LIST_LENGTH, rowIndices(seen, user)));
    const variety = measureVariety(lists, seed);
    judged.push({ ...way, metrics: metricsOf(part), variety, byLikes: byLikes(trial, gains) });
    perUser.push(gains);
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
    for (const recommender of RECOMMENDERS) {
      const [name, recommend] = aloneWay(recommender);
      await serve({ name, role: 'alone', recommender }, recommend);
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

/** The mean of the users of each kind. @param gains of the users of the test, ascending */
function byLikes(trial: Trial, gains: readonly number[]): EvaluationRow['byLikes'] {
  const likes = askedUsers(trial).map((user) => rowIndices(trial.liked.byUser, user).length);
  let least = 1;
  return LIKES.map(([name, most]) => {
    const some = gains.filter((_, at) => likes[at]! >= least && likes[at]! <= most);
    least = most + 1;
    return { name, users: some.length, ndcg: estimate(some) };
  });
}

function metricsOf(part: EvaluationPart): Record<string, Estimate> {
  // How many items are shown is told as such, for a share of the catalogue has no interval over users.
  const metrics = [...mergeParts([part], CUTOFFS).metrics];
  return Object.fromEntries(metrics.filter(([name]) => !name.startsWith('Coverage')));
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
