/** Trains models in one thread, as benches and tests want it; a service trains them in its pool (`src/background/training/part-trainer.ts`). */
import { fingerprint } from '../src/dataset/fingerprint.ts';
import { type Interactions, rowIndices } from '../src/dataset/interactions.ts';
import { FurzeError } from '../src/domain/furze-error.ts';
import type { InstantiateKernels } from '../src/kernel/scratch-sizes.ts';
import { AlsSolver } from '../src/model/als/als-solver.ts';
import { type AlsEpoch, type AlsOutcome, alsCourse } from '../src/model/als/epochs-and-early-stopping.ts';
import { type AlsStart, placeAls } from '../src/model/als/memory-layout.ts';
import type { MatrixFactorization } from '../src/model/als/model.ts';
import { type AlsSettings, alsSettings } from '../src/model/als/settings.ts';
import { qualityOf, trainedModel } from '../src/model/als/train-and-serve.ts';
import type { AlsPhase, AlsTask } from '../src/model/als/training-task.ts';
import { placeItemKnn } from '../src/model/item-knn/train-and-serve.ts';
import { finishTasks, runNeighborTask } from '../src/model/neighbors/fill-neighbor-table.ts';
import { type NeighborTable, packDraft } from '../src/model/neighbors/neighbor-table.ts';
import { beginPhase, isCancelled } from '../src/model/part/chunks-for-threads.ts';
import { placeSequence } from '../src/model/sequence/memory-layout.ts';
import { writeTimeline } from '../src/model/sequence/timelines.ts';
import { TransitionCounter } from '../src/model/sequence/transition-counter.ts';
import { placeSlim } from '../src/model/slim/memory-layout.ts';
import { type SlimSettings, slimSettings } from '../src/model/slim/settings.ts';
import { SLIM_PHASES, type SlimPhase, SlimSolver } from '../src/model/slim/slim-solver.ts';
import { slimTable } from '../src/model/slim/train-and-serve.ts';

/** Progress of a training, in epochs. */
export interface Progress {
  readonly done: number;
  readonly total: number;
}

/** Runs a generator to its end, telling of each value. */
export function finish<Value, Result>(
  run: Generator<Value, Result>,
  tell: (value: Value) => void = () => {},
): Result {
  for (;;) {
    const step = run.next();
    if (step.done === true) return step.value;
    tell(step.value);
  }
}

/**
 * Trains in this thread; the generator yields after each epoch, so the caller may show progress, measure, or
 * stop early by returning from it.
 * @throws FurzeError INTERNAL when the training diverged
 */
export function* fitAls(
  interactions: Interactions,
  given: Partial<AlsSettings>,
  instantiate: InstantiateKernels,
  start: AlsStart = {},
): Generator<AlsEpoch, MatrixFactorization> {
  const task = placeAls(interactions, alsSettings(given), 1, start);
  const solver = new AlsSolver(task, instantiate(task.memory), 0);
  const course = alsCourse(task);
  for (;;) {
    const step = course.next();
    if (step.done === true) {
      const { divergence } = step.value;
      if (divergence !== undefined) throw new FurzeError('INTERNAL', `the training diverged: ${divergence}`);
      return trainedModel(task, fingerprint(interactions), qualityOf(step.value));
    }
    if (step.value.kind === 'epoch') {
      yield step.value;
      continue;
    }
    beginPhase(task);
    solver.runPhase(step.value);
  }
}

/**
 * Trains by whatever spreads a phase over threads: `runPhase` resolves once every thread has returned from
 * `AlsSolver.runPhase`, and rejects when one failed. Yields after each epoch.
 * @returns how it ended; undefined when it was cancelled, and the factors are of no use then
 */
export async function* driveAls(
  task: AlsTask,
  runPhase: (phase: AlsPhase) => Promise<void>,
): AsyncGenerator<AlsEpoch, AlsOutcome | undefined> {
  const course = alsCourse(task);
  for (;;) {
    if (isCancelled(task)) return undefined;
    const step = course.next();
    if (step.done === true) return step.value;
    if (step.value.kind === 'epoch') {
      yield step.value;
      continue;
    }
    beginPhase(task);
    await runPhase(step.value);
  }
}

/**
 * Learns in this thread; the generator yields after each phase, so the caller may stop by returning.
 * @throws FurzeError BAD_REQUEST for a setting out of range
 */
export function* fitSlim(
  interactions: Interactions,
  given: Partial<SlimSettings>,
  instantiate: InstantiateKernels,
): Generator<SlimPhase, NeighborTable> {
  const task = placeSlim(interactions, slimSettings(given));
  const solver = new SlimSolver(task, instantiate, 0);
  for (const phase of SLIM_PHASES) {
    beginPhase(task);
    solver.runPhase(phase);
    yield phase;
  }
  return slimTable(task, fingerprint(interactions));
}

/** Compares all items in this thread. */
export function fitItemKnn(interactions: Interactions, instantiate: InstantiateKernels): NeighborTable {
  const task = placeItemKnn(interactions, 1);
  runNeighborTask(task, instantiate(task.similarity.memory), 0);
  return finishTasks([task], fingerprint(interactions));
}

/** Counts in this thread. @param timeAt when a user liked an item that it has */
export function fitSequence(
  interactions: Interactions,
  timeAt: (userRow: number, itemRow: number) => number,
): NeighborTable {
  const { byUser, userCount } = interactions;
  const task = placeSequence(interactions, (words) => {
    for (let user = 0; user < userCount; user++) {
      const items = rowIndices(byUser, user);
      const times = Array.from(items, (item) => timeAt(user, item));
      writeTimeline(words, byUser.indptr[user]!, items, times);
    }
  });
  new TransitionCounter(task).run();
  return packDraft(task.draft, fingerprint(interactions));
}
