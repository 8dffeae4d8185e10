import type { Config } from '../domain/config/config.ts';
import type { EvaluateOptions, EvaluationReport, EvaluationTable } from '../domain/evaluation-schemas.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { readPositiveKinds } from '../domain/positive-feedback-types.ts';
import { storeSource } from '../exchange/copy-sources.ts';
import { storePaths } from '../store/open/store-options.ts';
import { openReader } from '../store/open/thread-stores.ts';

import { advise, countFacts } from './advice.ts';
import { conclude } from './conclusion.ts';
import { evaluateService, type OnEvaluation } from './evaluate-service.ts';
import { createTrial, type Protocol } from './hold-out-protocol.ts';
import { type Past, readFeedback } from './read-feedback.ts';

/** Too few users with held-out feedback say nothing. */
const USERS_MIN = 20;

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
  const past = await readFeedback(storeSource(reader), readPositiveKinds(positiveTypes)).finally(() =>
    reader.close(),
  );
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
  const protocols: readonly Protocol[] =
    options.protocol === 'both' ? ['temporal', 'last'] : [options.protocol];
  const tables: EvaluationTable[] = [];
  for (const protocol of protocols) tables.push(await evaluateBy(protocol, past, config, options, onStage));
  return {
    source: source ?? dataPath,
    positiveTypes: [...positiveTypes],
    users: past.userIds.length,
    items: past.itemIds.length,
    feedback: past.timesMs.length,
    tables,
  };
}

async function evaluateBy(
  protocol: Protocol,
  past: Past,
  config: Config,
  { share, users, seed }: EvaluateOptions,
  onStage: OnEvaluation,
): Promise<EvaluationTable> {
  const trial = createTrial(past, { protocol, share, usersMax: users, seed });
  const asked = countRows(trial.test.byUser.indptr);
  if (asked < USERS_MIN) {
    throw new OperatorError(
      `only ${asked} users have feedback to hold out and feedback before it; at least ${USERS_MIN} are needed`,
    );
  }
  const rows = await evaluateService(trial, config, { seed, onStage });
  const advice = advise(rows, countFacts(trial, asked, users));
  return { protocol, users: asked, rows, conclusion: conclude(rows), advice };
}

function countRows(indptr: Uint32Array): number {
  let count = 0;
  for (let row = 1; row < indptr.length; row++) if (indptr[row]! > indptr[row - 1]!) count++;
  return count;
}
