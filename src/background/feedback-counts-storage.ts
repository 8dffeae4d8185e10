import type { Config } from '../config/config.ts';
import { positiveFeedback } from '../config/positive-feedback.ts';
import type { Clock } from '../domain/clock.ts';
import type { CountsStorage } from '../recommend/popularity/live-counts.ts';
import { popularitySpans } from '../recommend/popularity/popularity-counts.ts';
import type { CacheStore } from '../store/cache-store.ts';
import type { StorePaths } from '../store/open/open-store.ts';
import { SAVED_COUNTS_NAME } from '../threads/messages.ts';
import type { WorkerPool } from './pool/worker-pool.ts';

/** Keeps the counts of feedback in the cache store and has a worker bring it up to date. */
export function countsStorage(
  pool: WorkerPool,
  { recommend }: Config,
  cache: CacheStore,
  paths: StorePaths,
  clock: Clock,
): CountsStorage {
  const settings = {
    positiveTypes: positiveFeedback(recommend).positiveTypes,
    ...popularitySpans(recommend),
  };
  return {
    read: () => cache.getBlob(SAVED_COUNTS_NAME),
    renew: () => pool.run<'recount'>({ kind: 'recount', ...settings, ...paths, nowMs: clock() }),
  };
}
