import { setTimeout as delay } from 'node:timers/promises';
import { Piscina } from 'piscina';
import { countForCollection } from '../../memory/garbage-collection.ts';
import { availableThreads } from '../../platform/process/machine.ts';
import { ownThread, type ThreadEntry } from '../../platform/program/thread-entry.ts';
import { FULL_PRIORITY, type Job, type JobKind, type Jobs } from '../../threads/messages.ts';

/** An idle worker ends after this time. */
const IDLE_MS = 30_000;
/** Time before a thread that could not start is started again, doubled each time up to a second, milliseconds. */
const RESTART_MS_MIN = 100;
const RESTART_MS_MAX = 1000;
/** For so long a stop waits for jobs under way, milliseconds: a thread that is ended while it opens a store ends the process. */
const CLOSE_MS = 1000;

/** Jobs whose answers are shared memory. */
const SHARING: ReadonlySet<JobKind> = new Set(['gather', 'prepare', 'finish', 'load']);

export interface WorkerPoolOptions {
  /** Told of a thread that cannot start, as when the system gives no more handles, and of one that waits for where models are. */
  readonly onTrouble?: (message: string, error: unknown) => void;
  readonly entry?: ThreadEntry;
}

/**
 * The worker threads. A failing job rejects its promise and harms no other; a worker that dies is replaced and its job
 * rejected. While no thread can start, jobs wait and it is tried again.
 */
export class WorkerPool {
  /** Jobs of a training that may run at once. */
  readonly trainingSlots: number;
  /** The scratch memories that each model has beside those of the training slots: the main thread's, and of lists made again aside. */
  readonly servingSlot: number;
  readonly remakeSlot: number;
  /** Scratch memories of a model in all. */
  readonly slots: number;
  protected readonly pool: Piscina<Job, unknown>;
  /** Threads for what requests wait for, and for what is starved; there are none as long as nothing needs them. */
  private readonly fullPriority: Piscina<Job, unknown>;
  private readonly underWay = new Set<Promise<unknown>>();
  private restartMs = RESTART_MS_MIN;
  private closed = false;
  private restart: NodeJS.Timeout | undefined;

  /** @param threads how many train at once; 0 for one a core, or as
   *   many as a container's quota has room for. One more stands by for what is done aside, such as lists that are renewed. */
  constructor(threads: number, { onTrouble = () => {}, entry }: WorkerPoolOptions = {}) {
    this.trainingSlots = threads === 0 ? availableThreads() : threads;
    this.servingSlot = this.trainingSlots;
    this.remakeSlot = this.trainingSlots + 1;
    this.slots = this.trainingSlots + 2;
    const { url, execArgv } = entry ?? ownThread('threads/worker-entry');
    const open = (maxThreads: number, argv: string[]) => {
      const pool = new Piscina<Job, unknown>({
        filename: url.href,
        execArgv,
        argv,
        minThreads: 0,
        maxThreads,
        idleTimeout: IDLE_MS,
        atomics: 'sync',
      });
      pool.on('workerCreate', () => {
        this.restartMs = RESTART_MS_MIN;
      });
      pool.on('message', (reason: string) => {
        onTrouble('what was learned cannot be stored yet; trying again for five minutes', new Error(reason));
      });
      pool.on('error', (error: unknown) => {
        onTrouble('a worker thread could not start; trying again', error);
        this.startLater();
      });
      return pool;
    };
    this.pool = open(this.trainingSlots + 1, []);
    this.fullPriority = open(this.trainingSlots + 1, [FULL_PRIORITY]);
  }

  /** True once the threads are stopped, for which jobs fail. */
  get isClosed(): boolean {
    return this.closed;
  }

  /**
   * @param atFullPriority whether the job is done by a thread that does not give way to those that answer requests
   * @param transferList buffers of the job that are handed over: they are used up here
   */
  run<Kind extends JobKind>(
    job: Jobs[Kind]['job'] & { readonly kind: Kind },
    atFullPriority = false,
    transferList: ArrayBuffer[] = [],
  ): Promise<Jobs[Kind]['answer']> {
    const answer = (atFullPriority ? this.fullPriority : this.pool).run(job, { transferList });
    this.underWay.add(answer);
    const forget = () => this.underWay.delete(answer);
    answer.then(forget, forget);
    // What cannot be counted is collected later.
    if (SHARING.has(job.kind)) answer.then(countForCollection).catch(() => {});
    return answer as Promise<Jobs[Kind]['answer']>;
  }

  /** Stops all workers; jobs that are under way after a second reject. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.restart);
    const inTime = new AbortController();
    const late = delay(CLOSE_MS, undefined, { signal: inTime.signal }).catch(() => {});
    await Promise.race([Promise.allSettled(this.underWay), late]);
    inTime.abort();
    await Promise.all([this.pool.destroy(), this.fullPriority.destroy()]);
  }

  /** Piscina starts a thread when a job comes, and none for those that wait: an empty one makes it try. */
  private startLater(): void {
    if (this.closed || this.restart !== undefined) return;
    this.restart = setTimeout(() => {
      this.restart = undefined;
      for (const pool of [this.pool, this.fullPriority])
        if (pool.queueSize > 0) pool.run({ kind: 'nothing' }).catch(() => {});
    }, this.restartMs);
    this.restartMs = Math.min(RESTART_MS_MAX, this.restartMs * 2);
  }
}
