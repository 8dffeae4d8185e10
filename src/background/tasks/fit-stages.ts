import { performance } from 'node:perf_hooks';
import { groupDigits } from '../../domain/group-digits.ts';
import type { Logger } from '../../platform/log/log.ts';
import type { Pace } from './pace-meter.ts';

/** Stages of a fit beside those of the parts that it learns, see `LearnedPart.stage`. */
export const LOADING_FEEDBACK = 'Loading feedback';
export const LEARNING_TO_RANK = 'Learning to rank';
export const WRITING_RECOMMENDATIONS = 'Writing recommendations';
/** Appended to the stage of a part that learns once more, from what had been held out, too. */
export const ON_ALL_FEEDBACK = ' on all feedback';

/**
 * Told of every step; a stage ends with done = total.
 * @param detail such as the quality so far
 */
export type OnProgress = (stage: string, done: number, total: number, detail?: string) => void;

/** A stage that lasts is logged this often. */
const LOG_MS = 10_000;

/** The unit of the steps of a stage. */
const UNITS: readonly (readonly [stage: RegExp, unit: string])[] = [
  [/^Loading feedback/, 'records'],
  [/^Training SLIM|item similarities|^Comparing items|^Counting/, 'items'],
  [/^Training/, 'epoch'],
  [/^Writing recommendations|^Indexing users|^Learning to rank/, 'users'],
];

/** Formats a step of a fit as one readable line: `Training ALS: epoch 7 of 15, NDCG@10 0.071`. */
export function describeProgress(stage: string, done: number, total: number, detail?: string): string {
  const [, unit] = UNITS.find(([pattern]) => pattern.test(stage)) ?? [];
  const more = detail === undefined ? '' : `, ${detail}`;
  if (unit === 'epoch') return `${stage}: epoch ${groupDigits(done)} of ${groupDigits(total)}${more}`;
  if (total <= 1 && unit !== 'users' && unit !== 'items') return stage + more;
  if (stage === LOADING_FEEDBACK) return `${stage}: ${groupDigits(total)} ${unit}${more}`;
  return `${stage}: ${groupDigits(done)} of ${groupDigits(total)}${unit === undefined ? '' : ` ${unit}`}${more}`;
}

/** Returns a function that logs the steps of stages; the steps of a long stage every ten seconds. */
export function stageLog(log: Logger): (pace: Pace, detail?: string) => void {
  let current: string | undefined;
  let loggedMs = 0;
  return (pace, detail) => {
    const { stage, done, total } = pace;
    const nowMs = performance.now();
    if (stage !== current) {
      current = stage;
      loggedMs = nowMs;
    }
    if (nowMs - loggedMs < LOG_MS) return;
    loggedMs = nowMs;
    log.info({ ...pace, detail }, describeProgress(stage, done, total, detail));
  };
}
