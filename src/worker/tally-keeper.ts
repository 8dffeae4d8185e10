import type { Clock } from '../domain/clock.ts';
import type { Config } from '../domain/config/config.ts';
import { positiveKindNames } from '../domain/positive-feedback-types.ts';
import type { TallyKeeper } from '../recommend/popularity/live-tally.ts';
import { trendSpans } from '../recommend/popularity/trends.ts';
import type { CacheStore } from '../store/cache-store.ts';
import type { StorePaths } from '../store/open/open-store.ts';
import { TALLY_NAME } from './messages.ts';
import type { WorkerPool } from './pool/pool.ts';

/** Keeps the tally of feedback in the cache store and has a worker bring it up to date. */
export function tallyKeeper(
  pool: WorkerPool,
  { recommend }: Config,
  cache: CacheStore,
  paths: StorePaths,
  clock: Clock,
): TallyKeeper {
  const settings = {
    positiveTypes: positiveKindNames(recommend.data_source.positive_feedback_types),
    ...trendSpans(recommend),
  };
  return {
    read: () => cache.getBlob(TALLY_NAME),
    renew: () => pool.run<'tally'>({ kind: 'tally', ...settings, ...paths, nowMs: clock() }),
  };
}
