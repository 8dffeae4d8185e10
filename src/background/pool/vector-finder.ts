import type { FindInTable, ItemVectorsParts } from '../../recommend/vectors/item-vectors.ts';
import { cancelledBy } from '../../threads/cancellation.ts';
import { JobQueue } from './job-queue.ts';
import type { WorkerPool } from './worker-pool.ts';

/** One at a time: the tables have scratch for one worker, and training has the other threads. */
const SEARCHES_AT_WORK = 1;

export function vectorFinder(pool: WorkerPool): FindInTable {
  const searches = new JobQueue(pool, SEARCHES_AT_WORK);
  return (place, query, signal) =>
    searches.ask<'vectors'>((cancelled) => ({ kind: 'vectors', place, query, cancelled }), signal);
}

/**
 * Puts tables of vectors into lists, which takes a minute for a million: in a thread that stands in the way of no request's
 * question.
 */
export function vectorClusterer(pool: WorkerPool): ItemVectorsParts['clusterAside'] {
  return (place, signal) =>
    cancelledBy(signal, (cancelled) => pool.run<'cluster'>({ kind: 'cluster', place, cancelled }, true));
}
