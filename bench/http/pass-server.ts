// The service in a process of its own that fits when it is told to and tells when lists are made.
// Messages in: 'fit', 'stop'. Out: the port; 'making' when the lists begin; milliseconds that they took.
import { performance } from 'node:perf_hooks';
import { WRITING_RECOMMENDATIONS } from '../../src/worker/tasks/progress.ts';
import { startChildService } from './child-service.ts';

const service = await startChildService(process.argv[2]!);
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
