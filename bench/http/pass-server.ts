// The service in a process of its own that fits when it is told to and tells when lists are made.
// Messages in: 'fit', 'stop'. Out: the port; 'making' when the lists begin; milliseconds that they took.
import { performance } from 'node:perf_hooks';
import { defaultConfig } from '../../src/domain/config.ts';
import { createLogger } from '../../src/domain/log.ts';
import { startService } from '../../src/service.ts';
import { WRITING_RECOMMENDATIONS } from '../../src/worker/progress.ts';
import { cachePathOf, dataPathOf, POSITIVE_TYPES, READ_TYPES } from './processes.ts';

const folder = process.argv[2]!;
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
    },
  }),
  log: createLogger('error'),
});
process.on('message', (message) => {
  if (message === 'fit') void fitNow();
  else void service.stop().then(() => process.exit());
});
process.send!(service.address.port);

async function fitNow(): Promise<void> {
  let beganMs = Number.NaN;
  await service.fit((stage) => {
    if (stage !== WRITING_RECOMMENDATIONS || !Number.isNaN(beganMs)) return;
    beganMs = performance.now();
    process.send!('making');
  });
  process.send!(performance.now() - beganMs);
}
