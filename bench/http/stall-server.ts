// The service in a process of its own that tells how long its main thread was busy without a break.
// Messages in: 'begin', 'read', 'stop'. Out: the port; milliseconds of the longest stall since 'begin'.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startChildService } from './child-service.ts';

const RESOLUTION_MS = 1;
const service = await startChildService(process.argv[2]!, {
  fallback_recommend: ['item_based', 'popular', 'latest'],
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
