// The service in a process of its own that tells how long its main thread was busy without a break.
// Messages in: 'begin', 'fit', 'read', 'stop'. Out: the port; 'begun'; 'fitted'; the longest turn of the event loop since
// 'begin', in milliseconds of processor time.
import { startChildService } from './child-service.ts';
import { mainThreadClock } from './thread-time.ts';

/** Turns that go by before the longest is told: what an answer leaves to be done belongs to it. */
const LAST_TURNS_MS = 50;

const service = await startChildService(process.argv[2]!, {
  fallback_recommend: ['item_based', 'popular', 'latest'],
});
const processorMs = mainThreadClock();
let longestMs = 0;
let isOn = false;

/** Goes round with the event loop, which never sleeps meanwhile. */
function turn(lastMs: number): void {
  const usedMs = processorMs();
  longestMs = Math.max(longestMs, usedMs - lastMs);
  if (isOn) setImmediate(turn, usedMs);
}

process.on('message', (message) => {
  if (message === 'begin') {
    longestMs = 0;
    isOn = true;
    turn(processorMs());
    process.send!('begun');
  } else if (message === 'fit') {
    void service.fit().then(() => process.send!('fitted'));
  } else if (message === 'read')
    setTimeout(() => {
      isOn = false;
      process.send!(longestMs);
    }, LAST_TURNS_MS);
  else void service.stop().then(() => process.exit());
});
process.send!(service.address.port);
