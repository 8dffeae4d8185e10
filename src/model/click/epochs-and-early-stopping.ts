/**
 * The epochs of a factorization machine and their learning rate, which can fall linearly from epoch to epoch: keeps the
 * best parameters by held-out loss, ends when they no longer improve, and goes back with half the learning rate when an
 * epoch diverges.
 */
import { FurzeError } from '../../domain/furze-error.ts';
import type { FactorizationMachine, FmParameters } from './factorization-machine.ts';

/** Largest number of halvings of the learning rate before a training is given up. */
const HALVINGS_MAX = 8;
/** A mean loss of so many times ln 2, which knowing nothing costs, is no longer learning. */
const DIVERGED_LOSS = 4 * Math.LN2;

/** Progress of a training in epochs, with what the last finished one reached (NaN where it was not measured). */
export interface FmProgress {
  readonly done: number;
  readonly total: number;
  /** Mean loss of a row of training, in nats. */
  readonly loss: number;
  /** Measure that decides when to stop, lower being better: such as the mean loss on held-out records. */
  readonly heldOutLoss: number;
}

/** One pass over all rows. @returns the mean loss of a row */
export type RunEpoch = (epoch: number, learningRate: number) => Generator<void, number>;
/** Judges the machine as it stands, lower is better. */
export type Judge = () => Generator<void, number>;

/** Which epochs are run, and how the learning rate falls in them. */
export interface EpochSpan {
  /** Epochs that are behind the machine. */
  readonly done: number;
  /** The first epoch that is not run. */
  readonly end: number;
  /** The epoch that the learning rate would be 0 in, falling linearly from that of epoch `done`; absent where it stays. */
  readonly zeroAt?: number;
}

export interface FmOutcome {
  readonly parameters: FmParameters;
  /** The epoch of these parameters, from 1. */
  readonly epoch: number;
}

/**
 * Runs up to `settings.epochs` epochs of an initialized machine.
 * @param judge null when nothing is held out: all epochs are run and the last counts
 * @param span all epochs at the same learning rate when absent
 * @throws FurzeError INTERNAL when it diverges however small the steps
 */
export function* runEpochs(
  machine: FactorizationMachine,
  runEpoch: RunEpoch,
  judge: Judge | null,
  span: EpochSpan = { done: 0, end: machine.settings.epochs },
): Generator<FmProgress, FmOutcome> {
  const { done, end, zeroAt } = span;
  const { patience } = machine.settings;
  let { learningRate } = machine.settings;
  let best: FmOutcome = { parameters: machine.copy(), epoch: done };
  let bestLoss = Number.POSITIVE_INFINITY;
  let halvings = 0;
  let progress: FmProgress = { done, total: end, loss: Number.NaN, heldOutLoss: Number.NaN };
  for (let epoch = done; epoch < end; epoch++) {
    const rate = zeroAt === undefined ? learningRate : (learningRate * (zeroAt - epoch)) / (zeroAt - done);
    const loss = yield* during(runEpoch(epoch, rate), progress);
    if (!(loss < DIVERGED_LOSS && machine.isFinite)) {
      if (++halvings > HALVINGS_MAX) {
        throw new FurzeError(
          'INTERNAL',
          'the factorization machine diverged; a lower learning rate may help',
        );
      }
      machine.restore(best.parameters);
      learningRate /= 2;
      epoch = best.epoch - 1;
      continue;
    }
    const heldOutLoss = judge === null ? Number.NaN : yield* during(judge(), progress);
    progress = { done: epoch + 1, total: end, loss, heldOutLoss };
    yield progress;
    if (judge === null || heldOutLoss < bestLoss) {
      best = { parameters: machine.copy(), epoch: epoch + 1 };
      bestLoss = heldOutLoss;
    } else if (epoch + 1 - best.epoch >= patience) break;
  }
  return best;
}

/** Runs work to its end, repeating `progress` at each of its yields. */
export function* during<Progress, Result>(
  work: Generator<void, Result>,
  progress: Progress,
): Generator<Progress, Result> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    yield progress;
  }
}
