// The service in a process of its own that fits when it is told to and tells when lists are made.
// Messages in: 'fit', 'stop'. Out: the port; 'making' when the lists begin; how many milliseconds they took, and how many
// the fit made. With a folder in PROFILE_FOLDER, each making of lists writes a CPU profile of the main thread there.
import { performance } from 'node:perf_hooks';
import { WRITING_RECOMMENDATIONS } from '../../src/background/tasks/progress-tracker.ts';
import { startChildService } from './child-service.ts';
import { startProfiler } from './profile.ts';

const profiler = await startProfiler(process.env.PROFILE_FOLDER);
const service = await startChildService(process.argv[2]!);
process.on('message', (message) => {
  if (message === 'fit') void fitNow();
  else void service.stop().then(() => process.exit());
});
process.send!(service.address.port);

async function fitNow(): Promise<void> {
  let beganMs = Number.NaN;
  const fitted = await service.fit((stage) => {
    if (stage !== WRITING_RECOMMENDATIONS || !Number.isNaN(beganMs)) return;
    beganMs = performance.now();
    void profiler?.begin();
    process.send!('making');
  });
  const tookMs = performance.now() - beganMs;
  if (!Number.isNaN(beganMs)) await profiler?.end();
  process.send!({ tookMs, lists: fitted?.lists ?? 0 });
}
