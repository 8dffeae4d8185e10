import type { TrainingData } from '../../dataset/training-data.ts';
import { type Clock, effectiveUntil } from '../../domain/clock.ts';
import type { Logger } from '../../domain/log.ts';
import { sharedBytesOf } from '../../memory/reuse.ts';
import type { Footprint } from '../../model/user-sample.ts';
import type { WorkerPool } from '../pool/pool.ts';

export interface TrainingDataLoaderOptions {
  readonly dataPath: string;
  readonly positiveTypes: readonly string[];
  /** As in `GatherJob`. */
  readonly positiveWeights?: ReadonlyMap<string, number> | undefined;
  /** As in `GatherJob`. */
  readonly halfLifeMs?: number;
  /** Positive feedback older than this does not count, milliseconds; Infinity for all. */
  readonly positiveTtlMs: number;
  readonly clockErrorMs: number;
  /** Of the rule that holds feedback out. */
  readonly seed: number;
  /** The most that a fit may take. */
  readonly memoryBytesMax: number;
  /** As in `FeedbackRoom`. */
  readonly footprint?: Footprint;
  readonly log?: Logger;
  readonly clock: Clock;
}

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
   * @returns undefined when there is no positive feedback
   * @throws RangeError when it would take more memory than a fit may
   */
  async load(leavesOut: boolean, held: readonly unknown[] = []): Promise<TrainingData | undefined> {
    const {
      clock,
      clockErrorMs,
      positiveTtlMs,
      memoryBytesMax: budgetBytes,
      footprint,
      log,
      ...rest
    } = this.options;
    const job = {
      kind: 'gather',
      dataPath: rest.dataPath,
      positiveTypes: rest.positiveTypes,
      positiveWeights: rest.positiveWeights,
      ...(rest.halfLifeMs !== undefined && { halfLifeMs: rest.halfLifeMs }),
      sinceMs: clock() - positiveTtlMs,
      untilMs: effectiveUntil(clock(), clockErrorMs),
      seed: rest.seed,
      leavesOut,
      heldBytes: sharedBytesOf(held),
      budgetBytes,
      ...(footprint !== undefined && { footprint }),
    } as const;
    const data = await this.pool.run<'gather'>(job);
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
