/** What a fit is doing, in order. */
export const STAGES = ['waiting', 'loading feedback', 'training', 'making lists'] as const;
export type Stage = (typeof STAGES)[number];

const STAGE = 0;
const DONE = 1;
const TOTAL = 2;
const CANCELLED = 3;

/** How far a job is, in four int32 of shared memory: the worker writes, anyone reads; `cancel` goes the other way. */
export class JobProgress {
  readonly buffer: SharedArrayBuffer;
  private readonly cells: Int32Array;

  constructor(buffer = new SharedArrayBuffer(16)) {
    this.buffer = buffer;
    this.cells = new Int32Array(buffer);
  }

  report(stage: Stage, done: number, total: number): void {
    // The stage is written last: who reads it sees the numbers that belong to it or later ones.
    Atomics.store(this.cells, TOTAL, total);
    Atomics.store(this.cells, DONE, done);
    Atomics.store(this.cells, STAGE, STAGES.indexOf(stage));
  }

  read(): { stage: Stage; done: number; total: number } {
    const stage = STAGES[Atomics.load(this.cells, STAGE)] ?? 'waiting';
    return { stage, done: Atomics.load(this.cells, DONE), total: Atomics.load(this.cells, TOTAL) };
  }

  cancel(): void {
    Atomics.store(this.cells, CANCELLED, 1);
  }

  /** @throws Error when the job was cancelled; jobs call it between steps. */
  check(): void {
    if (Atomics.load(this.cells, CANCELLED) === 1) throw new JobCancelled();
  }
}

export class JobCancelled extends Error {
  constructor() {
    super('the job was cancelled');
    this.name = 'JobCancelled';
  }
}
