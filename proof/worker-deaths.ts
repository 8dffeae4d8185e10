import { mkdirSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { WorkerPool } from '../src/background/pool/worker-pool.ts';
import { defaultConfig } from '../src/config/config.ts';
import { createLogger } from '../src/platform/log/log.ts';
import { startService } from '../src/service/service.ts';
import type { JobKind } from '../src/threads/messages.ts';

/** What came of a fit during which a worker died. */
export interface Death {
  readonly stage: string;
  /** What went wrong; undefined when the service went on as it should. */
  readonly fault: string | undefined;
}

const USERS = 60;
const ITEMS = 30;

/**
 * Fits once to learn of the jobs of a fit, and then once for each kind of them with all workers ended as soon as a job of
 * that kind has begun. Then the service must answer, and fit again.
 */
export async function workersThatDie(folder: string): Promise<readonly Death[]> {
  mkdirSync(folder, { recursive: true });
  const kinds = new Set<JobKind>();
  let doomed: JobKind | undefined;
  let dying: Promise<unknown> = Promise.resolve();
  const { run } = WorkerPool.prototype;
  WorkerPool.prototype.run = function (job) {
    kinds.add(job.kind);
    const answer = run.call(this, job);
    if (job.kind === doomed) {
      doomed = undefined;
      const { threads } = (this as unknown as { pool: { threads: Worker[] } }).pool;
      dying = Promise.all(threads.map((thread) => thread.terminate()));
    }
    return answer as never;
  };
  const service = await startService({ config: configIn(folder), log: createLogger('silent') });
  const url = `http://127.0.0.1:${service.address.port}`;
  try {
    await fill(url);
    await service.fit();
    const deaths: Death[] = [];
    for (const kind of [...kinds]) {
      // Something new, so that everything is learnt again.
      await send(url, [like(deaths.length % USERS, 'fresh')]);
      doomed = kind;
      const said = await service.fit().then(
        () => '',
        (error: Error) => error.message,
      );
      // Until it is gone a thread takes jobs, which die with it.
      await dying;
      const wasHit = doomed === undefined;
      doomed = undefined;
      deaths.push({ stage: kind, fault: wasHit ? await faultOf(url, () => service.fit(), said) : undefined });
    }
    return deaths;
  } finally {
    WorkerPool.prototype.run = run;
    await service.stop();
  }
}

async function faultOf(
  url: string,
  fitAgain: () => Promise<unknown>,
  said: string,
): Promise<string | undefined> {
  for (const path of ['/api/recommend/u1', '/api/health/ready', '/api/popular']) {
    const { status } = await fetch(url + path);
    if (status !== 200) return `${path} is answered ${status} after it (${said})`;
  }
  try {
    const summary = await fitAgain();
    return summary === undefined ? `the next fit has nothing to say (${said})` : undefined;
  } catch (error) {
    return `the next fit fails too: ${(error as Error).message} (${said})`;
  }
}

function configIn(folder: string) {
  return defaultConfig({
    server: { port: 0 },
    database: { data_store: `lmdb://${folder}/data`, cache_store: `lmdb://${folder}/cache` },
    worker: { threads: 2 },
    recommend: {
      data_source: { positive_feedback_types: ['like'], read_feedback_types: ['read'] },
      collaborative: { factors: 8, epochs: 3 },
      offline: { enable_item_based_recommend: true, enable_user_based_recommend: true },
    },
  });
}

function like(user: number, item: string) {
  return { FeedbackType: 'like', UserId: `u${user}`, ItemId: item, Timestamp: '2024-05-01' };
}

async function fill(url: string): Promise<void> {
  const records = Array.from({ length: USERS * 8 }, (_, at) =>
    like(at % USERS, `i${((at % USERS) + Math.floor(at / USERS) * 3) % ITEMS}`),
  );
  await send(url, records);
}

async function send(url: string, records: readonly unknown[]): Promise<void> {
  const { status } = await fetch(`${url}/api/feedback`, { method: 'POST', body: JSON.stringify(records) });
  if (status !== 200) throw new Error(`feedback is answered ${status}`);
}
