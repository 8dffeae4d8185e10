import type { Config } from '../domain/config/config.ts';
import type { EvaluationRow } from '../domain/evaluation-schemas.ts';
import { byRecommenderKey, RECOMMENDERS } from '../domain/recommenders.ts';
import { type Estimate, estimate } from '../model/evaluation/confidence-interval.ts';
import { type EvaluationPart, evaluateUsers, mergeParts } from '../model/evaluation/evaluate.ts';
import type { Ranker } from '../model/evaluation/ranker.ts';
import { bestPopularity, randomRanker, seenBy } from './baselines.ts';
import type { Trial } from './hold-out-protocol.ts';
import { type Recommend, TrialService } from './trial-service.ts';

/** List lengths at which is measured. */
const CUTOFFS = [10, 20] as const;
/** The measure by which rows are compared. */
export const MAIN_METRIC = 'NDCG@10';

/** Further ways to configure the service, by name. */
export type Variants = readonly (readonly [name: string, recommend: Recommend])[];

/** Told what is being done, and how many of how many ways to recommend are judged. */
export type OnEvaluation = (stage: string, done: number, total: number) => void;

const SERVED = 'served lists';

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
  const tell = (stage: string) => onStage(stage, judged.length, total);
  const perUser: (readonly number[])[] = [];
  const judge = (name: string, role: EvaluationRow['role'], ranker: Ranker, fitSeconds?: number) => {
    const part = evaluateUsers(ranker, seenBy(trial), trial.test.byUser, CUTOFFS, {
      first: 0,
      end: trial.test.userCount,
    });
    judged.push({ name, role, metrics: metricsOf(part), ...(fitSeconds !== undefined && { fitSeconds }) });
    perUser.push(part.values.get(MAIN_METRIC) ?? []);
  };
  const serve = async (name: string, role: EvaluationRow['role'], recommend: Recommend) => {
    const { lists, fitSeconds } = await service.serve(recommend, longest, (stage) =>
      tell(`${name}: ${stage}`),
    );
    judge(name, role, listRanker(lists), fitSeconds);
  };
  try {
    await serve(SERVED, 'served', {});
    // Right after, for where what is learned is the same, a fit that follows sees it and learns nothing.
    for (const [name, recommend] of variants) await serve(name, 'variant', recommend);
    for (const name of RECOMMENDERS) {
      await serve(`${name} alone`, 'alone', {
        offline: ONE_RECOMMENDER,
        online: { fallback_recommend: [name] },
      });
    }
  } finally {
    await service.close();
  }
  tell('references');
  const popularity = bestPopularity(trial, seed);
  judge(`${POPULAR} (${showWindow(popularity.windowHours)})`, 'reference', popularity.ranker);
  judge('random', 'reference', randomRanker(trial, seed));
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

/** The name of popularity by its best window, which stands behind it in brackets. */
const POPULAR = 'popular, window chosen on training data';
const WINDOW = new RegExp(`^${POPULAR} \\((.+)\\)$`);
const ALL_TIME = 'all time';

function showWindow(hours: number): string {
  if (hours === Number.POSITIVE_INFINITY) return ALL_TIME;
  return hours < 48 ? `${hours} h` : `${hours / 24} days`;
}

/** The served lists against the best of the others, as a sentence. */
export function conclude(rows: readonly EvaluationRow[]): string {
  const served = rows.find(({ role }) => role === 'served')!;
  const others = rows.filter(({ role }) => role === 'alone' || role === 'reference');
  const popular = others.filter(({ name }) => name.startsWith('popular'));
  const [first, second] = [best(others), best(popular)];
  if (first === second) return compare(served, first, 'the best of the others');
  return [compare(served, first, 'the best of the others'), compare(served, second, 'popularity')].join(' ');
}

function best(rows: readonly EvaluationRow[]): EvaluationRow {
  return rows.reduce((one, other) => (mainOf(other) > mainOf(one) ? other : one));
}

function mainOf({ metrics }: EvaluationRow): number {
  return metrics[MAIN_METRIC]?.mean ?? 0;
}

function compare(served: EvaluationRow, other: EvaluationRow, what: string): string {
  const { mean, halfWidth } = other.againstServed;
  const base = mainOf(other);
  const share = base > 0 ? `${Math.abs((100 * mean) / base).toFixed(0)} %` : mainOf(served).toFixed(4);
  const verb = mean <= 0 ? 'beat' : 'lose to';
  const noise = Math.abs(mean) > halfWidth ? 'which is more than the noise' : 'which is within the noise';
  return `Served lists ${verb} ${what}, ${inWords(other)}, by ${share}, ${noise}.`;
}

/** A row as it is told in a sentence. */
function inWords({ name }: EvaluationRow): string {
  const window = WINDOW.exec(name)?.[1];
  if (window === undefined) return name;
  return `the most popular items of ${window === ALL_TIME ? window : `the last ${window}`}`;
}
