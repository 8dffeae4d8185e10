// The service in a process of its own that tells how long its main thread was busy without a break.
// Messages in: 'begin', 'read', 'stop'. Out: the port; 'begun'; the longest turn of the event loop since 'begin', in
// milliseconds of processor time and by the clock.
import { performance } from 'node:perf_hooks';
import { startChildService } from './child-service.ts';
import { mainThreadClock } from './thread-time.ts';

/** Turns that go by before the longest is told: what an answer leaves to be done belongs to it. */
const LAST_TURNS_MS = 20;

const service = await startChildService(process.argv[2]!, {
  fallback_recommend: ['item_based', 'popular', 'latest'],
});
const processorMs = mainThreadClock();
let longest = { processorMs: 0, clockMs: 0 };
let isOn = false;

/** Goes round with the event loop, which never sleeps meanwhile. */
function turn(lastProcessorMs: number, lastMs: number): void {
  const [usedMs, nowMs] = [processorMs(), performance.now()];
  longest = {
    processorMs: Math.max(longest.processorMs, usedMs - lastProcessorMs),
    clockMs: Math.max(longest.clockMs, nowMs - lastMs),
  };
  if (isOn) setImmediate(turn, usedMs, nowMs);
}

process.on('message', (message) => {
  if (message === 'begin') {
    longest = { processorMs: 0, clockMs: 0 };
    isOn = true;
    turn(processorMs(), performance.now());
    process.send!('begun');
  } else if (message === 'read')
    setTimeout(() => {
      isOn = false;
      process.send!(longest);
    }, LAST_TURNS_MS);
  else void service.stop().then(() => process.exit());
});
process.send!(service.address.port);
