import type { Config } from '../config/config.ts';
import { listSpace, NO_SPACE } from '../config/list-space.ts';
import type {
  EvaluateOptions,
  EvaluationReport,
  EvaluationTable,
  ReplayTable,
} from '../domain/evaluation-schemas.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { readPositiveKinds } from '../domain/positive-feedback-types.ts';
import { RECOMMENDERS } from '../domain/recommenders.ts';
import { storeSource } from '../exchange/copy-sources.ts';
import type { LocalReads } from '../store/data-store.ts';
import { storePaths } from '../store/open/store-options.ts';
import { openReader } from '../store/open/thread-stores.ts';

import { advise, countFacts } from './advice.ts';
import { conclude } from './conclusion.ts';
import { aloneWay, evaluateService, type OnEvaluation, type Variants } from './evaluate-service.ts';
import { askedUsers, createTrial, type Trial } from './hold-out-protocol.ts';
import { type Past, readFeedback } from './read-feedback.ts';
import { Replay } from './replay.ts';
import { planReplay, type ReplayPlan } from './replay-plan.ts';
import { Timeline } from './timeline.ts';

/** Too few users with held-out feedback say nothing. */
const USERS_MIN = 20;
const QUESTIONS_MIN = 20;

/**
 * Judges the lists that a configuration makes of the data in its folder. The data is read and never changed; a service
 * may run on the folder meanwhile.
 * @param source what the data came from, for the report; the folder when undefined
 * @throws OperatorError when there is no data, nothing positive in it, or too little to hold a part out
 */
export async function evaluateStore(
  config: Config,
  options: EvaluateOptions,
  source: string | undefined,
  onStage: OnEvaluation,
): Promise<EvaluationReport> {
  const { dataPath } = storePaths(config);
  const positiveTypes = config.recommend.data_source.positive_feedback_types;
  const reader = await openReader(dataPath);
  try {
    const past = await readFeedback(storeSource(reader, true), readPositiveKinds(positiveTypes));
    const vectorsOf = vectorsIn(reader.local, config);
    return await evaluatePast({ ...past, ...(vectorsOf && { vectorsOf }) }, config, options, source, onStage);
  } finally {
    await reader.close();
  }
}

/** Looks up the vectors of items in the spaces of a configuration; undefined where all are made of texts. */
function vectorsIn(reads: LocalReads, { vectors }: Config): Past['vectorsOf'] {
  const spaces = Object.entries(vectors).filter(([, { source }]) => source !== 'text');
  if (spaces.length === 0) return undefined;
  return (ItemId) =>
    spaces.flatMap(([space, { dimensions }]) => {
      const vector = reads.vectorAt(reads.itemRow(ItemId), space, dimensions);
      return vector === undefined ? [] : [[space, { ItemId, Vector: Array.from(vector) }] as const];
    });
}

/** Ways to serve without vectors, and by each space that lists do not go by as configured. */
export function spaceVariants(config: Config): Variants {
  const served = listSpace(config);
  const others = Object.entries(config.vectors).filter(
    ([name, { similarity }]) => similarity === 'cosine' && name !== served,
  );
  const by = (vector_space: string) => [`lists by ${vector_space}`, { vector_space }] as const;
  const without =
    served === undefined ? [] : [['lists without vectors', { vector_space: NO_SPACE }] as const];
  return [...without, ...others.map(([name]) => by(name))];
}

async function evaluatePast(
  past: Past,
  config: Config,
  options: EvaluateOptions,
  source: string | undefined,
  onStage: OnEvaluation,
): Promise<EvaluationReport> {
  const { dataPath } = storePaths(config);
  const positiveTypes = config.recommend.data_source.positive_feedback_types;
  if (!past.isPositive.includes(true)) {
    if (past.types.length === 0)
      throw new OperatorError(
        `${dataPath} holds no feedback to judge by; furze import feedback FILE brings some`,
      );
    const seen = [...new Set(past.types)].slice(0, 10).join(', ') || 'none';
    throw new OperatorError(
      `no feedback is positive: positive types are ${positiveTypes.join(', ') || 'not configured'}, types in the data are ${seen}; see --positive-types, and --type for files without a column of types`,
    );
  }
  const { protocol } = options;
  // Too little of either kind is said before the replay, which takes long.
  const plan = protocol === 'temporal' ? undefined : planQuestions(past, config, options);
  const trial = protocol === 'replay' ? undefined : holdOut(past, options);
  const replay = plan && (await runReplay(plan, config, options, onStage));
  const tables = trial === undefined ? [] : [await judgeTrial(trial, past, config, options, onStage)];
  return {
    source: source ?? dataPath,
    positiveTypes: [...positiveTypes],
    users: past.userIds.length,
    items: past.itemIds.length,
    feedback: past.timesMs.length,
    ...(replay !== undefined && { replay }),
    tables,
  };
}

type ReplayChoice = Omit<EvaluateOptions, 'protocol' | 'users'>;

/** Replays the last part of the past. @throws OperatorError when it holds too few questions */
export function replayPast(
  past: Past,
  config: Config,
  options: ReplayChoice,
  onStage: OnEvaluation,
): Promise<ReplayTable> {
  return runReplay(planQuestions(past, config, options), config, options, onStage);
}

function planQuestions(
  past: Past,
  config: Config,
  { share, questions, fits, seed }: ReplayChoice,
): ReplayPlan {
  const plan = planReplay(new Timeline(past, seed), {
    ...{ share, seed, questionsMax: questions, fitsMax: fits },
    fitPeriodMs: config.recommend.collaborative.model_fit_period,
  });
  if (plan.questions.length < QUESTIONS_MIN) {
    throw new OperatorError(
      `only ${plan.questions.length} records of the last part can be asked about; at least ${QUESTIONS_MIN} are needed`,
    );
  }
  return plan;
}

const runReplay = (plan: ReplayPlan, config: Config, { seed, alone }: ReplayChoice, onStage: OnEvaluation) =>
  Replay.run(plan, config, seed, onStage, alone ? RECOMMENDERS.map(aloneWay) : []);

function holdOut(past: Past, { share, users, seed }: EvaluateOptions): Trial {
  const trial = createTrial(past, { share, usersMax: users, seed });
  const asked = askedUsers(trial).length;
  if (asked < USERS_MIN) {
    throw new OperatorError(
      `only ${asked} users have feedback to hold out and feedback before it; at least ${USERS_MIN} are needed`,
    );
  }
  return trial;
}

async function judgeTrial(
  trial: Trial,
  past: Past,
  config: Config,
  { users, seed }: EvaluateOptions,
  onStage: OnEvaluation,
): Promise<EvaluationTable> {
  const rows = await evaluateService(trial, config, { seed, onStage, variants: spaceVariants(config) });
  const asked = askedUsers(trial).length;
  return {
    protocol: 'temporal',
    users: asked,
    rows,
    conclusion: conclude(rows, past.itemIds.length),
    advice: advise(rows, countFacts(trial, asked, users)),
  };
}
