// The service in a process of its own, which fits when it is told to and never by itself; it stops when it is told to, and
// when the bench is gone. Arguments: the folder of its stores, and how it answers who has no list, as JSON. Messages and what
// they tell are in child-service.ts. With a folder in PROFILE_FOLDER, each making of lists and each watch of turns writes a
// CPU profile of the main thread there.
import { performance } from 'node:perf_hooks';
import { WorkerPool } from '../../src/background/pool/worker-pool.ts';
import { WRITING_RECOMMENDATIONS } from '../../src/background/tasks/fit-stages.ts';
import { defaultConfig } from '../../src/config/config.ts';
import { createLogger } from '../../src/platform/log/log.ts';
import { startService } from '../../src/service/service.ts';
import type { ListsJob } from '../../src/threads/messages.ts';
import type { Order, Told } from './child-service.ts';
import { cachePathOf, dataPathOf, POSITIVE_TYPES, READ_TYPES } from './processes.ts';
import { startProfiler } from './profile.ts';
import { mainThreadClock } from './thread-time.ts';

/** Turns that go by before the longest is told: what an answer leaves to be done belongs to it. */
const LAST_TURNS_MS = 50;

let made = 0;
const { run } = WorkerPool.prototype;
WorkerPool.prototype.run = function (job, atFullPriority) {
  if (job.kind === 'question') made++;
  if (job.kind === 'lists') made += (job as unknown as ListsJob).userRows.length;
  return run.call(this, job, atFullPriority) as never;
};

const [folder = '', online = '{}'] = process.argv.slice(2);
const database = {
  data_store: `lmdb://${dataPathOf(folder)}`,
  cache_store: `lmdb://${cachePathOf(folder)}`,
  sync: 'commit',
} as const;
const recommend = {
  data_source: { positive_feedback_types: POSITIVE_TYPES, read_feedback_types: READ_TYPES },
  collaborative: { model_fit_period: 86_400_000 },
  offline: { check_recommend_period: 86_400_000 },
  online: JSON.parse(online),
};
const config = defaultConfig({ database, server: { port: 0 }, recommend });
const service = await startService({ config, log: createLogger('error') });
process.once('disconnect', () => process.exit());

const tell = (told: Partial<Told>) => process.send!(told);
const profiler = await startProfiler(process.env.PROFILE_FOLDER);
const processorMs = mainThreadClock();
let longestMs = 0;
/** Begin and end of the longest turn, microseconds of the clock that profiles have. */
let longestUs: readonly number[] = [];
let isWatched = false;

/** Goes round with the event loop, which never sleeps meanwhile. */
function turn(lastMs: number, lastUs: number): void {
  const [usedMs, nowUs] = [processorMs(), clockUs()];
  if (usedMs - lastMs > longestMs) {
    longestMs = usedMs - lastMs;
    longestUs = [lastUs, nowUs];
  }
  if (isWatched) setImmediate(turn, usedMs, nowUs);
}

function clockUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

const ORDERS: Readonly<Record<Order, () => Promise<void>>> = {
  async fit() {
    let beganMs = Number.NaN;
    const profiles = isWatched ? undefined : profiler;
    const fitted = await service.fit((stage) => {
      if (stage !== WRITING_RECOMMENDATIONS || !Number.isNaN(beganMs)) return;
      beganMs = performance.now();
      void profiles?.begin();
      tell({ making: true });
    });
    const tookMs = performance.now() - beganMs;
    if (!Number.isNaN(beganMs)) await profiles?.end();
    tell({ fitted: { tookMs, lists: fitted?.lists ?? 0 } });
  },
  async watch() {
    await profiler?.begin();
    longestMs = 0;
    isWatched = true;
    turn(processorMs(), clockUs());
    tell({ watching: true });
  },
  async read() {
    await new Promise((resolve) => setTimeout(resolve, LAST_TURNS_MS));
    isWatched = false;
    await profiler?.end({ longestUs });
    tell({ longestMs });
  },
  async count() {
    tell({ made });
  },
  async stop() {
    await service.stop();
    process.exit();
  },
};
process.on('message', (order: Order) => void ORDERS[order]());
tell({ port: service.address.port });
