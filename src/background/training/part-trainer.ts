import type { TrainingData } from '../../dataset/training-data.ts';
import { memoriesOf, sharedBytesOf } from '../../memory/find-shared-buffers.ts';
import { beginPhase, cancelTask, rowsDone, type SharedTask } from '../../model/part/chunks-for-threads.ts';
import type { CourseStep, ServingShape } from '../../model/part/learned-part.ts';
import {
  type PartName,
  type PartOptions,
  type PartOutcome,
  type PartPlaced,
  type PartTask,
  partOf,
} from '../../model/registry.ts';
import { unlessAborted } from '../../platform/concurrency/unless-aborted.ts';
import type { Logger } from '../../platform/log/log.ts';
import { cancelledBy } from '../../threads/cancellation.ts';
import type { MemoryChoice } from '../../threads/messages.ts';
import type { ModelShelf } from '../generation/generation-storage.ts';
import type { WorkerPool } from '../pool/worker-pool.ts';
import { plannedMb, STAGE_MEMORY } from './lists-and-ranking-memory-estimate.ts';

/** Time between two reports of progress while a phase lasts. */
const TELL_MS = 200;

export interface PartTrainerOptions {
  readonly dataPath: string;
  readonly shelf: ModelShelf;
  readonly positiveTypes: readonly string[];
  readonly readTypes: readonly string[];
  readonly serving: ServingShape;
  /** The most that a fit may take. */
  readonly memoryBytesMax: number;
  readonly log: Logger;
}

/** A training that came to its end. */
export interface PartRun<Name extends PartName> {
  readonly task: PartTask<Name>;
  readonly outcome: PartOutcome<Name>;
}

export interface TrainControl {
  readonly signal: AbortSignal;
  readonly tell?: (done: number, total: number, detail?: string) => void;
  /** Values that stay in shared memory meanwhile. */
  readonly held?: readonly unknown[];
}

/**
 * Trains parts, spread over the pool, whatever they are. A training of which a thread fails or dies is ended in all
 * threads and tried once more. Memory of one training is used again by the next.
 */
export class PartTrainer {
  readonly options: PartTrainerOptions;
  /** Memory that a training has freed. */
  readonly memory = new FreedMemory();
  private readonly pool: WorkerPool;

  constructor(pool: WorkerPool, options: PartTrainerOptions) {
    this.pool = pool;
    this.options = options;
  }

  /** True once the threads were stopped; a failure is no fault then. */
  get isStopped(): boolean {
    return this.pool.isClosed;
  }

  get slots(): number {
    return this.pool.trainingSlots;
  }

  /**
   * Trains a part without making a model of it yet.
   * @returns undefined when the signal cancelled it, which it does within one chunk
   * @throws RangeError when it would take more memory than a fit may, Error when it failed twice
   */
  async train<Name extends PartName>(
    part: Name,
    data: TrainingData,
    options: PartOptions<Name>,
    control: TrainControl,
  ): Promise<PartRun<Name> | undefined> {
    try {
      return await this.attempt(part, data, options, control);
    } catch (error) {
      if (control.signal.aborted) return undefined;
      if (error instanceof RangeError) throw error;
      this.options.log.warn({ err: error }, `${partOf(part).stage} failed; trying again`);
      return this.attempt(part, data, options, control);
    }
  }

  /**
   * Makes a model of a training and places it.
   * @param saveAs the name of its bytes where models are kept; not saved when absent
   */
  async finish<Name extends PartName>(
    part: Name,
    { task, outcome }: PartRun<Name>,
    fingerprint: number,
    saveAs?: string,
  ): Promise<PartPlaced<Name>> {
    const { shelf, serving } = this.options;
    const job = (free: readonly WebAssembly.Memory[]) =>
      this.pool.run<'finish'>({
        kind: 'finish',
        ...this.source(part),
        task,
        outcome,
        fingerprint,
        serving,
        free,
        saveAs: saveAs === undefined ? undefined : { place: shelf.place(), name: saveAs },
      });
    const { placed, kept } = await this.memory.lend((free) =>
      job(free).catch((error: unknown) => {
        this.options.log.warn({ err: error }, `${partOf(part).stage} could not be finished; trying again`);
        return job(free);
      }),
    );
    this.memory.release(task, kept);
    return placed as PartPlaced<Name>;
  }

  /** Places a part that was saved as `name`; undefined when there is none. */
  async load<Name extends PartName>(part: Name, name: string): Promise<PartPlaced<Name> | undefined> {
    const { shelf, serving } = this.options;
    const placed = await this.pool.run<'load'>(
      {
        kind: 'load',
        ...this.source(part),
        place: shelf.place(),
        name,
        serving,
      },
      // A start waits for it.
      true,
    );
    return placed as PartPlaced<Name> | undefined;
  }

  private source(part: PartName) {
    const { dataPath, positiveTypes, readTypes } = this.options;
    return { part, dataPath, positiveTypes, readTypes };
  }

  private async attempt<Name extends PartName>(
    part: Name,
    data: TrainingData,
    options: PartOptions<Name>,
    { signal, tell = () => {}, held = [] }: TrainControl,
  ): Promise<PartRun<Name> | undefined> {
    if (signal.aborted) return undefined;
    const { serving, memoryBytesMax: budgetBytes, log } = this.options;
    const heldBytes = sharedBytesOf([data, ...held]);
    const job = { kind: 'prepare', ...this.source(part), data, options, slots: this.slots } as const;
    const prepared = this.memory.lend((free) =>
      cancelledBy(signal, (cancelled) =>
        this.pool.run({ ...job, serving, free, heldBytes, budgetBytes, cancelled }),
      ),
    );
    // What cannot be ended within a chunk is not waited for; the memory that it takes is used by nobody else.
    const { task, plannedBytes, leftOut } = await unlessAborted(prepared, signal);
    const { stage } = partOf(part);
    log.info({ stage, plannedMb: plannedMb(plannedBytes) }, STAGE_MEMORY);
    if (leftOut !== undefined)
      log.warn({ stage }, `${stage}: ${leftOut}, to stay within what a fit may take`);
    const cancel = () => cancelTask(task);
    signal.addEventListener('abort', cancel);
    try {
      const run = await this.drive(part, task, signal, tell);
      if (run === undefined) this.memory.release(task);
      return run;
    } catch (error) {
      this.memory.release(task);
      throw error;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  private async drive<Name extends PartName>(
    part: Name,
    task: SharedTask,
    signal: AbortSignal,
    tell: NonNullable<TrainControl['tell']>,
  ): Promise<PartRun<Name> | undefined> {
    const course = partOf(part).course(task);
    let answers: readonly unknown[] = [];
    for (;;) {
      if (signal.aborted) return undefined;
      const step = course.next(answers);
      if (step.done === true)
        return { task: task as PartTask<Name>, outcome: step.value as PartOutcome<Name> };
      if (step.value.kind === 'progress') {
        tell(step.value.done, step.value.total, step.value.detail);
        continue;
      }
      answers = await this.runPhase(part, task, step.value, tell);
      if (answers.includes(false)) return undefined;
    }
  }

  /** Runs a phase in all threads; where one fails, the others end within a chunk before this rejects. */
  private async runPhase(
    part: PartName,
    task: SharedTask,
    {
      phase,
      rows,
      alone,
      before = 0,
      total = before + (rows ?? 0),
    }: Extract<CourseStep<unknown>, { kind: 'phase' }>,
    tell: NonNullable<TrainControl['tell']>,
  ): Promise<readonly unknown[]> {
    beginPhase(task);
    if (rows !== undefined) tell(before, total);
    const timer =
      rows === undefined ? undefined : setInterval(() => tell(before + rowsDone(task), total), TELL_MS);
    const slots = Array.from({ length: alone === true ? 1 : this.slots }, (_, slot) => slot);
    try {
      const jobs = slots.map((slot) =>
        this.pool.run<'run'>({ kind: 'run', ...this.source(part), task, phase, slot }).catch((error) => {
          cancelTask(task);
          throw error;
        }),
      );
      const ended = await Promise.allSettled(jobs);
      const failed = ended.find((job) => job.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      if (rows !== undefined) tell(before + rows, total);
      return ended.map((job) => (job as PromiseFulfilledResult<unknown>).value);
    } finally {
      clearInterval(timer);
    }
  }
}

/**
 * Shared memory that a stage of a fit has freed and the next one may use again. A memory is given back to the system
 * only once no thread has collected it, which may be long after.
 */
class FreedMemory {
  private free: WebAssembly.Memory[] = [];

  /** Lets one job alone take of all that is free; what it does not take is free again afterwards. */
  async lend<Answer extends MemoryChoice>(
    job: (free: readonly WebAssembly.Memory[]) => Promise<Answer>,
  ): Promise<Answer> {
    const lent = this.free.splice(0);
    const answer = await job(lent);
    this.free.push(...lent.filter((_, at) => !answer.taken.includes(at)));
    return answer;
  }

  /** Frees what a value refers to. @param kept which of its memories, in the order of `memoriesOf`, stay in use */
  release(value: unknown, kept: readonly number[] = []): void {
    this.free.push(...memoriesOf(value).filter((_, at) => !kept.includes(at)));
  }

  /** Forgets all of it, so that it goes back to the system. */
  clear(): void {
    this.free = [];
  }
}
