import type { Registry } from 'prom-client';
import type { Pace } from '../../background/tasks/pace-meter.ts';
import type { PlacementCounts } from '../../recommend/placements/placement-counts.ts';
import type { CacheStats } from '../../store/cache-store.ts';
import type { Cluster } from '../../store/cluster.ts';
import { gauge } from './gauge.ts';

export interface BackgroundParts {
  /** Progress of the fit, undefined when none runs. */
  readonly progress: () => Pace | undefined;
  readonly cache: () => Promise<CacheStats>;
  /** The nodes that share the data; undefined for a service of its own. */
  readonly cluster: Cluster | undefined;
  readonly placementCounts: PlacementCounts;
}

/** The metrics of the background: the stage of a fit with its expected end, and the size of the cache. */
export function registerBackground(
  registry: Registry,
  { progress, cache }: Pick<BackgroundParts, 'progress' | 'cache'>,
): void {
  const stage = (name: string, help: string, value: (job: Pace) => number | undefined) => {
    const read = () => {
      const job = progress();
      const known = job && value(job);
      return known === undefined ? [] : [[{ stage: job!.stage }, known] as const];
    };
    gauge(registry, name, help, read, ['stage']);
  };
  stage('furze_fit_steps_done', 'Steps done of the stage that a fit is at', ({ done }) => done);
  stage('furze_fit_steps', 'Steps of the stage that a fit is at', ({ total }) => total);
  stage('furze_fit_left_seconds', 'Time left of the stage at the pace so far', ({ leftMs }) =>
    leftMs === undefined ? undefined : leftMs / 1000,
  );
  // A store that is away must not take the other metrics with it.
  const size = (name: string, help: string, value: (stats: CacheStats) => number) =>
    gauge(registry, name, help, () => cache().then(value, () => undefined));
  size('furze_cache_lists', "Users' lists in the cache", ({ lists }) => lists);
  size(
    'furze_cache_list_bytes',
    'Bytes of a list in the cache on disk, on average',
    ({ lists, listBytes }) => (lists === 0 ? 0 : listBytes / lists),
  );
  size('furze_cache_up', '0 while the cache cannot be read', ({ isAvailable }) => (isAvailable ? 1 : 0));
  size(
    'furze_cache_failures',
    'How often a cache that nodes share did not answer in time since the start',
    ({ failures }) => failures,
  );
  size('furze_cache_bytes', 'Bytes of the cache on disk', ({ bytes }) => bytes);
}
