import { BoundedQueue, type Line } from '../../platform/concurrency/bounded-queue.ts';
import { type CancelFlag, cancelledBy } from '../../threads/cancellation.ts';
import type { Job, JobKind, Jobs } from '../../threads/messages.ts';
import type { WorkerPool } from './worker-pool.ts';

/**
 * Queue of the requests' questions to the workers, in order and bounded, so that a crowd of slow questions is refused rather than kept
 * waiting. They are answered at the priority of requests: beside a fit, or another busy program, they would wait for long. A question that nobody waits for any more leaves the queue, or ends at its next pause.
 */
export class JobQueue {
  private readonly pool: Pick<WorkerPool, 'run'>;
  private readonly queue: BoundedQueue;

  /** @param atWorkMax questions at work at the same time; training has the other threads */
  constructor(pool: Pick<WorkerPool, 'run'>, atWorkMax: number) {
    this.pool = pool;
    this.queue = new BoundedQueue({ atWorkMax, refusedFor: 'questions' });
  }

  /** Questions that wait for a thread. */
  get length(): number {
    return this.queue.waiting;
  }

  /**
   * @param jobOf makes the job, with what tells it that nobody waits any more
   * @throws FurzeError OVERLOADED when too many wait; the signal's reason once it is aborted
   */
  ask<Kind extends JobKind>(
    jobOf: (cancelled: CancelFlag) => Jobs[Kind]['job'] & { readonly kind: Kind } & Job,
    signal?: AbortSignal,
    line?: Line,
  ): Promise<Jobs[Kind]['answer']> {
    const work = (cancelled: CancelFlag) => this.pool.run<Kind>(jobOf(cancelled), true);
    return this.queue.run(() => cancelledBy(signal, work), signal, line);
  }
}
