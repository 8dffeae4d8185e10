import { type ConfigOverrides, defaultConfig } from '../../src/config/config.ts';
import { createLogger } from '../../src/platform/log/log.ts';
import { type Service, startService } from '../../src/service/service.ts';
import { cachePathOf, dataPathOf, POSITIVE_TYPES, READ_TYPES } from './processes.ts';

/**
 * The service of a bench in a process of its own, which fits when it is told to and never by itself. It stops when the
 * bench says so, and when the bench is gone.
 * @param folder its stores
 * @param online how it answers who has no list yet
 */
export async function startChildService(
  folder: string,
  online: NonNullable<ConfigOverrides['recommend']>['online'] = {},
): Promise<Service> {
  const service = await startService({
    config: defaultConfig({
      database: {
        data_store: `lmdb://${dataPathOf(folder)}`,
        cache_store: `lmdb://${cachePathOf(folder)}`,
        sync: 'commit',
      },
      server: { port: 0 },
      recommend: {
        data_source: { positive_feedback_types: POSITIVE_TYPES, read_feedback_types: READ_TYPES },
        collaborative: { model_fit_period: 86_400_000 },
        offline: { check_recommend_period: 86_400_000 },
        online,
      },
    }),
    log: createLogger('error'),
  });
  process.once('disconnect', () => process.exit());
  return service;
}
