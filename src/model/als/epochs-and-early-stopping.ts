/**
 * The course of a training: which phases follow one another, judging on the records held out, and the end. It is a
 * generator that runs no phase itself, so that one thread or a pool may drive it.
 */

import type { Estimate } from '../evaluation/confidence-interval.ts';
import { isFaulty } from '../part/chunks-for-threads.ts';
import { chanceQuality, judgedQuality, judgePeriod, keepGains } from './held-out-validation.ts';
import { type AlsPhase, type AlsTask, alsPhases, sidePhases } from './training-task.ts';

/** A training ends when it has not improved in so many judgings. */
const PATIENCE = 3;
/** Standard errors in the half width of an `Estimate`, and those of a one-sided 95 %. */
const ONE_SIDED = 1.645 / 1.96;
/**
 * Of n users without a single hit the share of hits may still be 3 / n, at 95 % (rule of three: Hanley and Lippman-Hand 1983): chance
 * has none either among many items.
 */
const WITHOUT_HITS = 3;

/** One epoch is over. */
export interface AlsEpoch {
  readonly kind: 'epoch';
  /** Epochs done, from 1. */
  readonly done: number;
  readonly total: number;
  /** NDCG@10 on the held-out records, when it was measured after this epoch. */
  readonly quality?: Estimate;
}

/** Why a training's factors must not be used. */
export type Divergence = 'its factors are not finite' | 'its lists are worse than chance';

export interface AlsOutcome {
  readonly epochs: number;
  /** The epoch whose item factors were kept, from 1; the last when nothing was held out. */
  readonly bestEpoch: number;
  /** NDCG@10 of that epoch on the held-out records. */
  readonly quality?: Estimate;
  readonly divergence?: Divergence;
}

/** Yields the phases in order; each must have been run when the generator is resumed. */
export function* alsCourse(task: AlsTask): Generator<AlsPhase | AlsEpoch, AlsOutcome> {
  const { epochs } = task.settings;
  const period = judgePeriod(task);
  let best: { epoch: number; quality: Estimate } | undefined;
  let stale = 0;
  let done = 0;
  // Users start at random, so items that were taken over would be lost if they were solved first.
  if (task.hasItemFactors) yield* sidePhases('user', 0);
  while (done < epochs && stale < PATIENCE) {
    for (const phase of alsPhases(1)) yield { ...phase, epoch: done };
    done++;
    if (isFaulty(task)) return { epochs: done, bestEpoch: done, divergence: 'its factors are not finite' };
    const isJudged = task.judged > 0 && (done % period === 0 || done === epochs);
    if (!isJudged) {
      yield { kind: 'epoch', done, total: epochs };
      continue;
    }
    yield { kind: 'pack' };
    yield { kind: 'judge' };
    const quality = judgedQuality(task);
    if (best === undefined || quality.mean > best.quality.mean) {
      best = { epoch: done, quality };
      stale = 0;
      keepGains(task);
      yield { kind: 'keep' };
    } else stale++;
    yield { kind: 'epoch', done, total: epochs, quality };
  }
  if (best === undefined) return { epochs: done, bestEpoch: done };
  const outcome = { epochs: done, bestEpoch: best.epoch, quality: best.quality };
  const { mean, halfWidth } = best.quality;
  const most = mean + Math.max(halfWidth * ONE_SIDED, WITHOUT_HITS / task.judged);
  if (most < chanceQuality(task.itemCount)) {
    return { ...outcome, divergence: 'its lists are worse than chance' };
  }
  if (best.epoch < done) {
    yield { kind: 'restore' };
    yield* sidePhases('user', done);
  }
  // The Gramian of the items is still the one that the users were solved with.
  yield { kind: 'fold' };
  return isFaulty(task) ? { ...outcome, divergence: 'its factors are not finite' } : outcome;
}
