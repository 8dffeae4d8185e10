import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Tasks } from '../../src/domain/admin-schemas.ts';
import { createRandom } from '../../src/domain/random.ts';
import { parquetOfVectors } from '../../src/exchange/parquet-vectors.ts';
import { restoreStore } from '../../src/store/open/open-store.ts';
import { openDataReader } from '../../src/store/open/thread-stores.ts';
import { startTestServer, TEST_STORE, type TestServer } from '../http/start.ts';

/** Pairs of jobs that are begun at almost the same time; `RACES` asks for more. */
const PAIRS = Number(process.env.RACES ?? 12);
const SEED = Number(process.env.RACES_SEED ?? 1);
const USERS = 24;
const ITEMS = 40;
const LIKES = 10;
const APART_MS = 40;

/** What the service knows, a text each: likes as `user/item`, and by `name=value` vectors, placements and models. */
type Facts = ReadonlySet<string>;
interface Job {
  /** What it makes of the facts; nothing where it was refused. */
  readonly changes: (facts: Facts) => Facts;
  /** Does it. @returns the likes that it has seen, where it gives them out */
  readonly run: () => Promise<Facts | undefined>;
}

const folder = mkdtempSync(join(tmpdir(), 'furze-races-'));
const random = createRandom(SEED);
let server: TestServer;
let copies = 0;

const likeOf = ({ UserId, ItemId }: { UserId: string; ItemId: string }) => `${UserId}/${ItemId}`;
const sorted = (facts: Facts) => [...facts].sort();
const keeps = (facts: Facts) => facts;
const likesOf = (facts: Facts) => [...facts].filter((fact) => fact.includes('/')).sort();

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
    Timestamp: new Date(Date.UTC(2024, 4, 1) + at * 60_000).toISOString(),
  }));
}

/** True where it was done; a job that goes on may refuse it, and says so. */
async function attempt(method: string, path: string, body?: unknown): Promise<boolean> {
  const answer = await server.call(method, path, body);
  const isTold = [409, 503].includes(answer.status) && typeof answer.body?.detail === 'string';
  if (!isTold) expect([method, path, answer.status, answer.text.slice(0, 300)]).toContain(200);
  return answer.status === 200;
}

/** A job that sets one fact by its name, or removes it. */
function setting(name: string, value: string | undefined, send: () => Promise<boolean>): Job {
  let isDone = false;
  const changes = (facts: Facts) => {
    const others = [...facts].filter((fact) => !fact.startsWith(`${name}=`));
    return !isDone ? facts : new Set(value === undefined ? others : [...others, `${name}=${value}`]);
  };
  return { changes, run: async () => void (isDone = await send()) };
}

/** All that the service knows. */
async function everything(): Promise<Facts> {
  const [likes, vectors, rules, models] = await Promise.all([
    answered(),
    ask('GET', '/api/vectors/plain?n=1000'),
    ask('GET', '/api/admin/rules'),
    ask('GET', '/api/admin/models'),
  ]);
  const facts = new Set(likes);
  for (const { ItemId, Vector } of vectors.Vectors) facts.add(`vector ${ItemId}=${Vector}`);
  for (const { Name, Settings } of rules.Placements) facts.add(`placement ${Name}=${Settings.length}`);
  for (const { Name, Items } of models.Models) facts.add(`model ${Name}=${Items}`);
  return facts;
}

/** Likes as the service answers them, in one page. */
async function answered(): Promise<Facts> {
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
      // So many users may just have been deleted.
      const isTold = kind === 'evaluation' && /at least 20 are needed/.test(last?.Error ?? '');
      if (!isTold) expect([kind, last?.State, last]).toEqual([kind, 'done', expect.anything()]);
      return undefined;
    }
    await delay(10);
  }
}

async function backup(): Promise<Facts | undefined> {
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
    const changes = (likes: Facts) => new Set([...likes, ...records.map(likeOf)]);
    return { changes, run: async () => void (await ask('POST', '/api/feedback', records)) };
  },
  () => {
    const user = `u${random.below(USERS)}`;
    const changes = (likes: Facts) => new Set([...likes].filter((like) => !like.startsWith(`${user}/`)));
    return { changes, run: async () => void (await ask('DELETE', `/api/user/${user}`)) };
  },
  () => ({ changes: keeps, run: () => task('/api/admin/evaluation', 'evaluation') }),
  () => ({ changes: keeps, run: restoreOver }),
  () => {
    const [item, value] = [`i${random.below(ITEMS)}`, random.below(1000)];
    const body = [{ ItemId: item, Vector: [value, 1] }];
    return setting(`vector ${item}`, `${value},1`, () => attempt('POST', '/api/vectors/plain', body));
  },
  () => {
    const [name, length] = [`p${random.below(3)}`, 1 + random.below(50)];
    const path = `/api/admin/placements/${name}`;
    return setting(`placement ${name}`, String(length), () => attempt('PUT', path, { length }));
  },
  () => {
    const [name, items] = [`m${random.below(2)}`, 5 + random.below(ITEMS - 5)];
    const ids = Array.from({ length: items }, (_, at) => `i${at}`);
    const vectors = ids.map((_, at) => Float32Array.of(1, at));
    return setting(`model ${name}`, String(items), () =>
      putModel(name, parquetOfVectors([{ ids, vectors, ofUsers: false }])),
    );
  },
];

/** The folder of a service that runs is not restored into, and stays as it is. */
async function restoreOver(): Promise<undefined> {
  const { DataFolder } = await ask('GET', '/api/admin/storage');
  const given = {
    source: Readable.from([Buffer.alloc(8192)]),
    dataPath: DataFolder as string,
    lockWaitMs: 0,
  };
  await expect(restoreStore(given)).rejects.toThrow(/Nothing is written over it/);
  return undefined;
}

async function putModel(name: string, body: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const answer = await fetch(`${server.base}/api/admin/model/${name}`, { method: 'PUT', body });
  const text = await answer.text();
  if (![409, 503].includes(answer.status)) expect([answer.status, text.slice(0, 300)]).toContain(200);
  return answer.status === 200;
}

/** Names in the folder of the data that only a job under way has there. */
async function left(): Promise<string[]> {
  const { DataFolder } = await ask('GET', '/api/admin/storage');
  return readdirSync(DataFolder as string).filter((name) =>
    /^(partial|copy|room|evaluation)|\.tmp$/.test(name),
  );
}

beforeAll(async () => {
  const recommend = {
    data_source: { positive_feedback_types: ['like'] },
    collaborative: { factors: 8, epochs: 2 },
    // What no job is about.
    offline: { enable_click_through_prediction: false },
  };
  const vectors = { plain: { dimensions: 2, similarity: 'dot' as const } };
  server = await startTestServer({ config: { recommend, vectors } });
  await ask('POST', '/api/feedback', batch());
  const items = Array.from({ length: ITEMS }, (_, at) => ({ ItemId: `i${at}` }));
  await ask('POST', '/api/items', items);
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
      const before = await everything();
      const waits = jobs.map(() => random.below(APART_MS));
      const seen = await Promise.all(jobs.map(({ run }, at) => delay(waits[at]).then(run)));
      const [first, second] = jobs as [Job, Job];
      const serial = [second.changes(first.changes(before)), first.changes(second.changes(before))].map(
        sorted,
      );
      const what = `pair ${pair} of seed ${SEED}: jobs ${numbers}, after ${waits} ms`;
      const after = await everything();
      expect(serial, what).toContainEqual(sorted(after));
      for (const [at, likes] of seen.entries()) {
        if (likes === undefined) continue;
        const other = jobs[1 - at]!;
        expect([before, other.changes(before)].map(likesOf), what).toContainEqual(sorted(likes));
      }
      expect(await left(), what).toEqual([]);
      if (pair % 8 === 7) {
        await server.restart();
        expect(sorted(await everything()), what).toEqual(sorted(after));
      }
    }
  },
);
