import type { Config } from '../../config/config.ts';
import { positiveFeedback } from '../../config/positive-feedback.ts';
import { type Clock, effectiveUntil } from '../../domain/clock.ts';
import { NOTHING } from '../../memory/ranked-rows.ts';
import { BoundedQueue } from '../../platform/concurrency/bounded-queue.ts';
import type { FindRelated } from '../../recommend/neighbors/item-neighbors.ts';
import type { FindInTable, ItemVectorsParts } from '../../recommend/vectors/item-vectors.ts';
import type { StorePaths } from '../../store/open/open-store.ts';
import { cancelledBy } from '../../threads/cancellation.ts';
import { JobQueue } from './job-queue.ts';
import type { WorkerPool } from './worker-pool.ts';

/** Walks through the store for requests at the same time; training has the other threads. */
const QUESTIONS_AT_WORK = 2;
/** One at a time: the tables have scratch for one worker, and training has the other threads. */
const VECTOR_SEARCHES_AT_WORK = 1;
/** Longest search for a text, milliseconds, and items that it finds at most. */
const [TEXT_MS_MAX, ITEMS_MAX] = [3000, 1000];
/** Searches for a text that wait for the one at work at most; more are refused. */
const TEXTS_WAITING_MAX = 15;

/** The caller of a search, by the name of a key, and what is aborted when nobody waits any more. */
export interface Searcher {
  readonly caller: { readonly name: string };
  readonly signal: AbortSignal;
}

/** Finds similar rows in a thread of the pool, out of the store's current data. */
export function neighborFinder(
  pool: WorkerPool,
  config: Config,
  { dataPath }: StorePaths,
  clock: Clock,
): FindRelated {
  const questions = new JobQueue(pool, QUESTIONS_AT_WORK);
  const common = { dataPath, ...positiveFeedback(config.recommend) };
  const { clock_error } = config.server;
  return async (relation, row, k, signal) => {
    const untilMs = effectiveUntil(clock(), clock_error);
    const asked = { kind: 'neighbors', among: 'store', ...common, relation, row, k, untilMs } as const;
    const line = { kind: relation, user: row };
    const found = await questions.ask<'neighbors'>((cancelled) => ({ ...asked, cancelled }), signal, line);
    return found ?? NOTHING;
  };
}

export function vectorFinder(pool: WorkerPool): FindInTable {
  const searches = new JobQueue(pool, VECTOR_SEARCHES_AT_WORK);
  return (place, query, signal) =>
    searches.ask<'vectors'>((cancelled) => ({ kind: 'vectors', place, query, cancelled }), signal);
}

/**
 * Puts tables of vectors into lists, which takes a minute for a million: at the priority of requests, since each search looks at
 * all vectors until then.
 */
export function vectorClusterer(pool: WorkerPool): ItemVectorsParts['clusterAside'] {
  return (place, signal) =>
    cancelledBy(signal, (cancelled) => pool.run<'cluster'>({ kind: 'cluster', place, cancelled }, true));
}

/**
 * Finds the ids of items that contain a text, best match first, one search at a time, so that many of them take no more than one thread.
 * Keys take turns.
 * @param ping throws where the store is gone, which a thread cannot tell from its own faults
 * @returns what throws FurzeError OVERLOADED when too many searches wait, STORE_UNAVAILABLE
 */
export function itemFinder(pool: Pick<WorkerPool, 'run'>, dataPath: string, ping: () => Promise<unknown>) {
  const queue = new BoundedQueue({ atWorkMax: 1, waitingMax: TEXTS_WAITING_MAX, refusedFor: 'searches' });
  return (text: string, n: number, { caller, signal }: Searcher): Promise<readonly string[]> => {
    const asked = { dataPath, text, n: Math.min(n, ITEMS_MAX), timeMsMax: TEXT_MS_MAX };
    const line = { kind: caller.name, user: 0 };
    const search = () =>
      pool.run<'searchItems'>({ kind: 'searchItems', ...asked }).catch(async (error: unknown) => {
        await ping();
        throw error;
      });
    return queue.run(search, signal, line);
  };
}
