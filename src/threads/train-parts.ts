import type { TrainingReads } from '../dataset/training-data.ts';
import { loadKernels } from '../kernel/load-kernels.ts';
import { memoriesOf } from '../memory/find-shared-buffers.ts';
import { reuseMemory } from '../memory/reuse-memory.ts';
import type { SharedTask } from '../model/part/chunks-for-threads.ts';
import type { StageRoom } from '../model/part/learned-part.ts';
import { checkStageMemory, stageBytes } from '../model/part/memory-budget.ts';
import { partOf } from '../model/registry.ts';
import { throwIfCancelled } from './cancellation.ts';
import type {
  FinishAnswer,
  FinishJob,
  LoadJob,
  MemoryChoice,
  PrepareAnswer,
  PrepareJob,
  RunJob,
} from './messages.ts';
import { withModelsAt } from './open-stores.ts';
import { withTrainingReads } from './training-reads.ts';

/** The part of what a fit may take that decides how many users a part learns from. */
const SAMPLE_SHARE = 0.5;
/** Of jobs that lay nothing out by it. */
const NO_ROOM: StageRoom = { bytes: 0, sampleBytes: 0 };

/** See `PrepareJob`. */
export function prepare(job: PrepareJob): PrepareAnswer {
  const { data, options, slots, serving, heldBytes: held, budgetBytes } = job;
  const part = partOf(job.part);
  const bytes = budgetBytes - held;
  const room = { bytes, sampleBytes: Math.min(bytes, SAMPLE_SHARE * budgetBytes) };
  const layOut = (reads: TrainingReads): PrepareAnswer => {
    const memory = { ...part.memory(data, options, slots, serving, reads, room), held };
    checkStageMemory(part.stage, memory, budgetBytes);
    return choosing(job.free, (allocate) => {
      const tools = { reads, instantiate: loadKernels, allocate, room };
      const task: SharedTask = part.prepare(data, options, slots, tools, serving);
      const leftOut = [memory.leftOut, task.leftOut].filter((text) => text !== undefined);
      return {
        plannedBytes: stageBytes(memory),
        leftOut: leftOut.length > 0 ? leftOut.join(' and ') : undefined,
        task,
      };
    });
  };
  return withTrainingReads(job, layOut, () => throwIfCancelled(job));
}

/** See `RunJob`. */
export function run(job: RunJob): unknown {
  const { task, phase, slot } = job;
  return withTrainingReads(job, (reads) =>
    partOf(job.part).run(task, phase, slot, {
      reads,
      instantiate: loadKernels,
      allocate: reuseMemory([]),
      room: NO_ROOM,
    }),
  );
}

/** See `FinishJob`. */
export async function finish(job: FinishJob): Promise<FinishAnswer> {
  const { task, outcome, fingerprint, saveAs } = job;
  const part = partOf(job.part);
  const model = part.model(task, outcome, fingerprint);
  if (saveAs !== undefined && part.saving !== undefined) {
    const bytes = part.saving.encode(model);
    await withModelsAt(saveAs.place, (models) => models.putBlob(saveAs.name, bytes));
  }
  return withTrainingReads(job, (reads) => {
    const answer = choosing(job.free, (allocate) => ({
      placed: part.serve(model, job.serving, { reads, instantiate: loadKernels, allocate, room: NO_ROOM }),
    }));
    const used = memoriesOf(answer.placed);
    const kept = [...memoriesOf(task).entries()].filter(([, memory]) => used.includes(memory));
    return { ...answer, kept: kept.map(([at]) => at) };
  });
}

/** See `LoadJob`. */
export async function load(job: LoadJob): Promise<unknown> {
  const { saving, serve } = partOf(job.part);
  const bytes = await withModelsAt(job.place, (models) => models.getBlob(job.name));
  if (bytes === undefined || saving === undefined) return undefined;
  const model = saving.decode(bytes);
  return withTrainingReads(job, (reads) =>
    serve(model, job.serving, { reads, instantiate: loadKernels, allocate: reuseMemory([]), room: NO_ROOM }),
  );
}

/** Lets `work` take memories that are free, and says which it took. */
function choosing<Answer extends object>(
  free: readonly WebAssembly.Memory[],
  work: (allocate: ReturnType<typeof reuseMemory>) => Answer,
): Answer & MemoryChoice {
  const left = [...free];
  const answer = work(reuseMemory(left));
  return { ...answer, taken: free.flatMap((memory, at) => (left.includes(memory) ? [] : [at])) };
}
