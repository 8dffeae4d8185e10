import { Piscina } from 'piscina';
import { availableThreads } from '../domain/machine.ts';
import { threadEntry } from '../domain/thread-entry.ts';
import type { Job, JobKind, Jobs } from './messages.ts';

/** An idle worker ends after this time. */
const IDLE_MS = 30_000;

/**
 * The worker threads. A failing job rejects its promise and harms no other; a worker that dies is replaced and its job
 * rejected.
 */
export class WorkerPool {
  /** How many jobs of a training may run at once. */
  readonly trainingSlots: number;
  /** The scratch memories that each model has beside those of the training slots: the main thread's, and of lists made again aside. */
  readonly servingSlot: number;
  readonly remakeSlot: number;
  /** Scratch memories of a model in all. */
  readonly slots: number;
  protected readonly pool: Piscina<Job, unknown>;

  /** @param threads how many train at once; 0 for one a core, or as
   *   many as a container's quota has room for. One more stands by for what a request waits for. */
  constructor(threads: number) {
    this.trainingSlots = threads === 0 ? availableThreads() : threads;
    this.servingSlot = this.trainingSlots;
    this.remakeSlot = this.trainingSlots + 1;
    this.slots = this.trainingSlots + 2;
    const { url, execArgv } = threadEntry(import.meta.url, './worker-entry');
    this.pool = new Piscina<Job, unknown>({
      filename: url.href,
      execArgv,
      minThreads: 0,
      maxThreads: this.trainingSlots + 1,
      idleTimeout: IDLE_MS,
      atomics: 'sync',
    });
  }

  run<Kind extends JobKind>(job: Jobs[Kind]['job'] & { readonly kind: Kind }): Promise<Jobs[Kind]['answer']> {
    return this.pool.run(job) as Promise<Jobs[Kind]['answer']>;
  }

  /** Stops all workers; jobs under way reject. */
  async close(): Promise<void> {
    await this.pool.destroy();
  }
}
