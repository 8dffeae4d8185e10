import type { TrainingData } from '../../dataset/training-data.ts';
import { type Clock, effectiveUntil } from '../../domain/clock.ts';
import { sharedBytesOf } from '../../memory/find-shared-buffers.ts';
import { unlessAborted } from '../../platform/concurrency/unless-aborted.ts';
import type { Logger } from '../../platform/log/log.ts';
import { cancelledBy } from '../../threads/cancellation.ts';
import type { GatherJob } from '../../threads/messages.ts';
import type { WorkerPool } from '../pool/worker-pool.ts';

export interface TrainingDataLoaderOptions
  extends Pick<
    GatherJob,
    'dataPath' | 'positiveTypes' | 'positiveWeights' | 'halfLifeMs' | 'seed' | 'footprint'
  > {
  /** Positive feedback older than this does not count, milliseconds; Infinity for all. */
  readonly positiveTtlMs: number;
  readonly clockErrorMs: number;
  /** The most that a fit may take. */
  readonly memoryBytesMax: number;
  readonly log?: Logger;
  readonly clock: Clock;
}

const NEVER = new AbortController().signal;

/** Reads what there is to train on and to judge by, as of now. */
export class TrainingDataLoader {
  private readonly pool: WorkerPool;
  private readonly options: TrainingDataLoaderOptions;

  constructor(pool: WorkerPool, options: TrainingDataLoaderOptions) {
    this.pool = pool;
    this.options = options;
  }

  /**
   * @param leavesOut whether what models are judged by is left out of the rest
   * @param held what stays in shared memory meanwhile
   * @param signal ends the reading when it is aborted
   * @returns undefined when there is no positive feedback
   * @throws RangeError when it would take more memory than a fit may
   * @throws the signal's reason once it is aborted
   */
  async load(
    leavesOut: boolean,
    held: readonly unknown[] = [],
    signal = NEVER,
  ): Promise<TrainingData | undefined> {
    const { clock, clockErrorMs, positiveTtlMs, memoryBytesMax: budgetBytes, log, ...asked } = this.options;
    const job = {
      kind: 'gather',
      ...asked,
      sinceMs: clock() - positiveTtlMs,
      untilMs: effectiveUntil(clock(), clockErrorMs),
      leavesOut,
      heldBytes: sharedBytesOf(held),
      budgetBytes,
    } as const;
    // What cannot be ended within a chunk is not waited for.
    const reading = cancelledBy(signal, (cancelled) => this.pool.run<'gather'>({ ...job, cancelled }));
    const data = await unlessAborted(reading, signal);
    if (data !== undefined && data.userShare < 1) {
      const users = data.rows.users.length;
      log?.warn(
        { userShare: data.userShare, users },
        `all feedback would take more memory than a fit may (${Math.round(budgetBytes / 2 ** 20)} MiB): models are ` +
          `learned from ${users} users, ${(data.userShare * 100).toFixed(1)} % of them, and know the others by what they like`,
      );
    }
    return data;
  }
}
