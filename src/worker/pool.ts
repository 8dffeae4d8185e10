import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import { threadEntry } from '../domain/thread-entry.ts';
import type { Ranked } from '../recommend/ranked.ts';
import type { FitJob, FitResult, Job, RelatedJob } from './messages.ts';

/** The worker threads. A failing job rejects its promise; a worker that dies is replaced and its job rejected. */
export class WorkerPool {
  private readonly pool: Piscina<Job, unknown>;

  /**
   * @param threads how many workers; 0 for one a core. There are always two or more, so that a fit, which takes one
   *   from start to end, never stands before a question that a request waits for.
   */
  constructor(threads: number) {
    const { url, execArgv } = threadEntry(import.meta.url, './worker-entry');
    const count = Math.max(2, threads === 0 ? availableParallelism() : threads);
    this.pool = new Piscina<Job, unknown>({
      filename: url.href,
      execArgv,
      minThreads: 0,
      maxThreads: count,
      idleTimeout: 30_000,
      atomics: 'sync',
    });
  }

  fit(job: FitJob): Promise<FitResult> {
    return this.pool.run(job) as Promise<FitResult>;
  }

  related(job: RelatedJob): Promise<Ranked> {
    return this.pool.run(job) as Promise<Ranked>;
  }

  /** Stops all workers; jobs under way reject. */
  async close(): Promise<void> {
    await this.pool.destroy();
  }
}
