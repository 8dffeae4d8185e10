// The service in a process of its own that tells how long its main thread was busy without a break.
// Messages in: 'begin', 'fit', 'read', 'stop'. Out: the port; 'begun'; 'fitted'; the longest turn of the event loop since
// 'begin', in milliseconds of processor time. With a folder in PROFILE_FOLDER, each writes a CPU profile there.
import { startChildService } from './child-service.ts';
import { startProfiler } from './profile.ts';
import { mainThreadClock } from './thread-time.ts';

/** Turns that go by before the longest is told: what an answer leaves to be done belongs to it. */
const LAST_TURNS_MS = 50;

const service = await startChildService(process.argv[2]!, {
  fallback_recommend: ['item_based', 'popular', 'latest'],
});
const processorMs = mainThreadClock();
const profiler = await startProfiler(process.env.PROFILE_FOLDER);
let longestMs = 0;
/** Begin and end of the longest turn, microseconds of the clock that profiles have. */
let longestUs: readonly number[] = [];
let isOn = false;

/** Goes round with the event loop, which never sleeps meanwhile. */
function turn(lastMs: number, lastUs: number): void {
  const [usedMs, nowUs] = [processorMs(), clockUs()];
  if (usedMs - lastMs > longestMs) {
    longestMs = usedMs - lastMs;
    longestUs = [lastUs, nowUs];
  }
  if (isOn) setImmediate(turn, usedMs, nowUs);
}

function clockUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

process.on('message', (message) => {
  if (message === 'begin') {
    void begin();
  } else if (message === 'fit') {
    void service.fit().then(() => process.send!('fitted'));
  } else if (message === 'read')
    setTimeout(() => {
      isOn = false;
      void Promise.resolve(profiler?.end({ longestUs })).then(() => process.send!(longestMs));
    }, LAST_TURNS_MS);
  else void service.stop().then(() => process.exit());
});
process.send!(service.address.port);

async function begin(): Promise<void> {
  await profiler?.begin();
  longestMs = 0;
  isOn = true;
  turn(processorMs(), clockUs());
  process.send!('begun');
}
