// The service in a process of its own that tells how long its main thread was busy without a break.
// Messages in: 'begin', 'read', 'stop'. Out: the port; milliseconds of the longest stall since 'begin'.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { defaultConfig } from '../../src/domain/config.ts';
import { createLogger } from '../../src/domain/log.ts';
import { startService } from '../../src/service.ts';
import { cachePathOf, dataPathOf, POSITIVE_TYPES, READ_TYPES } from './processes.ts';

const folder = process.argv[2]!;
const RESOLUTION_MS = 1;
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
      online: { fallback_recommend: ['item_based', 'popular', 'latest'] },
    },
  }),
  log: createLogger('error'),
});
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();
process.on('message', (message) => {
  if (message === 'begin') delay.reset();
  else if (message === 'read')
    setTimeout(() => process.send!(delay.max / 1e6 - RESOLUTION_MS), 2 * RESOLUTION_MS);
  else void service.stop().then(() => process.exit());
});
process.send!(service.address.port);
