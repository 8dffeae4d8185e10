import type { Config } from '../../config/config.ts';
import { positiveFeedback } from '../../config/positive-feedback.ts';
import { type Clock, effectiveUntil } from '../../domain/clock.ts';
import { NOTHING } from '../../memory/ranked-rows.ts';
import type { FindRelated } from '../../recommend/neighbors/item-neighbors.ts';
import type { StorePaths } from '../../store/open/open-store.ts';
import { JobQueue } from './job-queue.ts';
import type { WorkerPool } from './worker-pool.ts';

/** Walks through the store for requests at the same time; training has the other threads. */
const QUESTIONS_AT_WORK = 2;

/** Finds rows most like one in the pool, by what the store knows as of now. */
export function neighborFinder(
  pool: WorkerPool,
  config: Config,
  { dataPath }: StorePaths,
  clock: Clock,
): FindRelated {
  const questions = new JobQueue(pool, QUESTIONS_AT_WORK);
  const common = { dataPath, ...positiveFeedback(config.recommend) };
  const { clock_error } = config.server;
  return async (relation, row, k, signal) => {
    const untilMs = effectiveUntil(clock(), clock_error);
    const asked = { kind: 'neighbors', among: 'store', ...common, relation, row, k, untilMs } as const;
    const found = await questions.ask<'neighbors'>((cancelled) => ({ ...asked, cancelled }), signal);
    return found ?? NOTHING;
  };
}
