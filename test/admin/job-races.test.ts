import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Tasks } from '../../src/domain/admin-schemas.ts';
import { createRandom } from '../../src/domain/random.ts';
import { restoreStore } from '../../src/store/open/open-store.ts';
import { openDataReader } from '../../src/store/open/thread-stores.ts';
import { startTestServer, TEST_STORE, type TestServer } from '../http/start.ts';

/** Pairs of jobs that are begun at almost the same time; `RACES` asks for more. */
const PAIRS = Number(process.env.RACES ?? 16);
const SEED = Number(process.env.RACES_SEED ?? 1);
const USERS = 12;
const ITEMS = 40;
const LIKES = 10;
const APART_MS = 40;

/** Likes as `user/item`. */
type Likes = ReadonlySet<string>;
interface Job {
  /** What it makes of the likes. */
  readonly changes: (likes: Likes) => Likes;
  /** Does it. @returns the likes that it has seen, where it gives them out */
  readonly run: () => Promise<Likes | undefined>;
}

const folder = mkdtempSync(join(tmpdir(), 'furze-races-'));
const random = createRandom(SEED);
let server: TestServer;
let copies = 0;

const likeOf = ({ UserId, ItemId }: { UserId: string; ItemId: string }) => `${UserId}/${ItemId}`;
const sorted = (likes: Likes) => [...likes].sort();
const keeps = (likes: Likes) => likes;

async function ask(method: string, path: string, body?: unknown) {
  const answer = await server.call(method, path, body);
  expect([method, path, answer.status, answer.text.slice(0, 300)]).toEqual([
    method,
    path,
    200,
    expect.anything(),
  ]);
  return answer.body;
}

function batch(): { FeedbackType: string; UserId: string; ItemId: string; Timestamp: string }[] {
  return Array.from({ length: USERS * LIKES }, (_, at) => ({
    FeedbackType: 'like',
    UserId: `u${at % USERS}`,
    ItemId: `i${random.below(ITEMS)}`,
    Timestamp: '2024-05-01T00:00:00Z',
  }));
}

/** Likes as the service answers them, in one page. */
async function answered(): Promise<Likes> {
  const { Feedback } = await ask('GET', '/api/feedback?n=1000');
  return new Set((Feedback as { UserId: string; ItemId: string }[]).map(likeOf));
}

/** Begins a task and waits until it has ended; it must not have failed. */
async function task(path: string, kind: string): Promise<undefined> {
  await ask('POST', path);
  for (;;) {
    const tasks = (await ask('GET', '/api/admin/tasks')) as Tasks;
    if (!tasks.Running.some(({ Kind }) => Kind === kind)) {
      const last = tasks.Past.find(({ Kind }) => Kind === kind);
      expect([kind, last?.State, last]).toEqual([kind, 'done', expect.anything()]);
      return undefined;
    }
    await delay(10);
  }
}

async function backup(): Promise<Likes | undefined> {
  const answer = await fetch(`${server.base}/api/admin/backup`, { method: 'POST' });
  if (answer.status !== 200) {
    expect([answer.status, (await answer.text()).split('\n')]).toEqual([
      503,
      [expect.stringContaining('OVERLOADED')],
    ]);
    return undefined;
  }
  const dataPath = join(folder, `copy${copies++}`);
  const source = Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]);
  await restoreStore({ source, dataPath, lockWaitMs: 0 });
  const reader = openDataReader(dataPath);
  const users = (await reader.getUsers(1000, '')).rows;
  const records = await Promise.all(users.map(({ UserId }) => reader.getUserFeedback(UserId)));
  await reader.close();
  return new Set(records.flat().map((record) => likeOf(record as { UserId: string; ItemId: string })));
}

const JOBS: readonly (() => Job)[] = [
  () => ({ changes: keeps, run: backup }),
  () => ({ changes: keeps, run: () => task('/api/admin/compact', 'compaction') }),
  () => ({ changes: keeps, run: () => task('/api/admin/fit', 'fit') }),
  () => ({ changes: keeps, run: answered }),
  () => {
    const records = batch();
    const changes = (likes: Likes) => new Set([...likes, ...records.map(likeOf)]);
    return { changes, run: async () => void (await ask('POST', '/api/feedback', records)) };
  },
  () => {
    const user = `u${random.below(USERS)}`;
    const changes = (likes: Likes) => new Set([...likes].filter((like) => !like.startsWith(`${user}/`)));
    return { changes, run: async () => void (await ask('DELETE', `/api/user/${user}`)) };
  },
];

/** Names in the folder of the data that only a job under way has there. */
async function left(): Promise<string[]> {
  const { DataFolder } = await ask('GET', '/api/admin/storage');
  return readdirSync(DataFolder as string).filter((name) => /^(partial|copy|room)|\.tmp$/.test(name));
}

beforeAll(async () => {
  const recommend = {
    data_source: { positive_feedback_types: ['like'] },
    collaborative: { factors: 8, epochs: 2 },
  };
  server = await startTestServer({ config: { recommend } });
  await ask('POST', '/api/feedback', batch());
  await server.service.fit();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

it.runIf(TEST_STORE === 'lmdb')(
  'any two jobs at a time do what they do one after the other, or say why not, and leave nothing',
  async () => {
    for (let pair = 0; pair < PAIRS; pair++) {
      const numbers = [random.below(JOBS.length), random.below(JOBS.length)];
      const jobs = numbers.map((number) => JOBS[number]!());
      const before = await answered();
      const waits = jobs.map(() => random.below(APART_MS));
      const seen = await Promise.all(jobs.map(({ run }, at) => delay(waits[at]).then(run)));
      const [first, second] = jobs as [Job, Job];
      const serial = [second.changes(first.changes(before)), first.changes(second.changes(before))].map(
        sorted,
      );
      const what = `pair ${pair} of seed ${SEED}: jobs ${numbers}, after ${waits} ms`;
      const after = await answered();
      expect(serial, what).toContainEqual(sorted(after));
      for (const [at, likes] of seen.entries()) {
        if (likes === undefined) continue;
        const other = jobs[1 - at]!;
        expect([before, other.changes(before)].map(sorted), what).toContainEqual(sorted(likes));
      }
      expect(await left(), what).toEqual([]);
      if (pair % 8 === 7) {
        await server.restart();
        expect(sorted(await answered()), what).toEqual(sorted(after));
      }
    }
  },
);
