import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FurzeError } from '../../src/domain/furze-error.ts';
import { DEFAULT_LIMITS } from '../../src/domain/request-limits.ts';
import type { HttpMetrics } from '../../src/http/metrics/metrics.ts';
import type { RequestHead } from '../../src/http/pipeline/exchange.ts';
import { RequestPipeline } from '../../src/http/pipeline/request-pipeline.ts';
import { StartGate } from '../../src/http/pipeline/start-gate.ts';
import type { Services } from '../../src/http/route/services.ts';
import { createRoutes } from '../../src/http/route-table.ts';
import { createLogger } from '../../src/platform/log/log.ts';
import type { ReadBarrier } from '../../src/store/data-store.ts';
import { OPEN_ACCESS } from './serve-routes.ts';

const REPORT = {
  CacheStoreConnected: true,
  CacheStoreError: '',
  DataStoreConnected: true,
  DataStoreError: '',
  Ready: true,
};

/** The pipeline over services of which only what a test needs is there. */
function pipelineOver(services: object, starting?: Promise<void>, barrier?: ReadBarrier) {
  return new RequestPipeline({
    starting,
    barrier,
    routes: createRoutes('0.0.0', DEFAULT_LIMITS),
    services: { defaultN: 10, limits: DEFAULT_LIMITS, ...services } as Services,
    access: OPEN_ACCESS,
    errorFormat: 'problem',
    limits: DEFAULT_LIMITS,
    metrics: { record: () => {} } as unknown as HttpMetrics,
    log: createLogger('silent'),
  });
}

function headOf(head: Partial<RequestHead>): RequestHead {
  return {
    method: 'GET',
    path: '/',
    query: '',
    header: (name) => (name === 'host' ? '127.0.0.1' : ''),
    ...head,
  };
}

function ask(services: object, head: Partial<RequestHead>, starting?: Promise<void>) {
  const pipeline = pipelineOver(services, starting);
  return pipeline.answer(pipeline.open(headOf(head)));
}

test('a service that is not ready says so on ready alone', async () => {
  const health = () =>
    Promise.resolve({ ...REPORT, DataStoreConnected: false, DataStoreError: 'gone', Ready: false });
  const ready = await ask({ health }, { path: '/api/health/ready' });
  expect(ready.status).toBe(503);
  expect(ready.headers).toContainEqual(['Retry-After', '1']);
  expect(JSON.parse(String(ready.body))).toMatchObject({ DataStoreError: 'gone', Ready: false });
  expect(await ask({ health }, { path: '/api/health/live' })).toMatchObject({ status: 200 });
});

test('a store that is away is a 503 with Retry-After', async () => {
  const userRow = () => {
    throw new FurzeError('STORE_UNAVAILABLE', 'The disk is full.');
  };
  const entityTexts = { users: { find: () => undefined } };
  const reply = await ask({ data: { local: { userRow } }, entityTexts }, { path: '/api/user/a' });
  expect(reply.status).toBe(503);
  expect(reply.headers).toContainEqual(['Retry-After', '1']);
  expect(JSON.parse(String(reply.body))).toMatchObject({
    code: 'STORE_UNAVAILABLE',
    detail: 'The disk is full.',
  });
});

test('a write too many is a 503 with Retry-After', async () => {
  const data = { write: () => Promise.reject(new FurzeError('OVERLOADED', 'Too many writes are waiting.')) };
  const reply = await ask(
    { data, impressions: { forget: async () => {} } },
    { method: 'DELETE', path: '/api/user/a' },
  );
  expect(reply.status).toBe(503);
  expect(reply.headers).toContainEqual(['Retry-After', '1']);
  expect(JSON.parse(String(reply.body))).toMatchObject({ code: 'OVERLOADED' });
});

/** A list as the recommender answers it. */
const answered = (text: string) => ({ text, source: 'personal' });

test('a recommendation that is there is answered without a turn of the event loop', () => {
  const recommender = { recommend: () => answered('["a"]') };
  expect(ask({ recommender }, { path: '/api/recommend/u' })).toMatchObject({
    status: 200,
    body: '["a"]',
    headers: expect.arrayContaining([['X-Furze-Source', 'personal']]),
  });
});

test('a handler that throws at once is a 500 too', async () => {
  const recommender = {
    recommend() {
      throw new TypeError('secret');
    },
  };
  const reply = await ask({ recommender }, { path: '/api/recommend/u' });
  expect(reply.status).toBe(500);
  expect(String(reply.body)).not.toContain('secret');
});

test('what the recommender is asked for is the whole query', async () => {
  const asked: unknown[] = [];
  const recommender = { recommend: (...all: unknown[]) => answered(String(asked.push(all))) };
  const query = 'n=5&offset=2&category=b+c&category=%C3%A9&write-back-type=read&write-back-delay=1.5h';
  await ask({ recommender }, { path: '/api/recommend/a%2Fb/cat', query });
  const expected = {
    n: 5,
    offset: 2,
    categories: ['cat', 'b c', 'é'],
    writeBackType: 'read',
    writeBackDelayMs: 5_400_000,
    scored: false,
  };
  expect(asked).toEqual([['a/b', expect.objectContaining(expected)]]);
});

test('while the models are read back, lists at hand and health are answered, and all else waits', async () => {
  let restored = () => {};
  const starting = new Promise<void>((resolve) => {
    restored = resolve;
  });
  const calls: string[] = [];
  const services = {
    health: () => Promise.resolve(REPORT),
    recommender: {
      recommendReady: (userId: string) => (userId === 'known' ? answered('["a"]') : undefined),
      recommend(userId: string) {
        calls.push(userId);
        return userId === 'broken' ? Promise.reject(new Error('no list')) : answered('["b"]');
      },
      popular: () => Promise.resolve([]),
    },
  };
  const asked = (path: string) => ask(services, { path }, starting);
  expect(asked('/api/recommend/known')).toMatchObject({ status: 200, body: '["a"]' });
  expect(asked('/api/recommend/known/category')).toMatchObject({ status: 200, body: '["a"]' });
  expect(await asked('/api/health/live')).toMatchObject({ status: 200 });
  const paths = ['/api/recommend/other', '/api/recommend/broken', '/api/popular', '/api/health/ready'];
  let ended = 0;
  const waiting = paths.map(async (path) => {
    const reply = await asked(path);
    ended++;
    return reply.status;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect([ended, calls]).toEqual([0, []]);
  restored();
  expect(await Promise.all(waiting)).toEqual([200, 500, 200, 200]);
  expect(calls).toEqual(['other', 'broken']);
});

test('metrics, pages and what operators ask wait for no model', async () => {
  const never = new Promise<void>(() => {});
  const answer = () => ({});
  const admin = {
    ...{ summary: answer, series: answer, tasks: answer, quality: answer, storage: answer, config: answer },
    ...{ begin: answer, user: answer, item: answer, upkeep: { backup: answer }, imports: { tell: answer } },
  };
  const page = () => Promise.resolve({ cursor: '', rows: [] });
  const data = { getUsers: page, getItems: page };
  const services = { admin, data, health: () => REPORT, metricsText: () => Promise.resolve('up 1') };
  const waiting = new Set<string>();
  const asked = async ({ method, path }: { method: string; path: string }) => {
    waiting.add(`${method} ${path}`);
    await ask(services, { method, path: path.replaceAll(/[{}]/g, '') }, never);
    waiting.delete(`${method} ${path}`);
  };
  const routes = createRoutes('0.0.0', DEFAULT_LIMITS).filter(
    ({ path, tag }) => tag === 'Admin' || !path.startsWith('/api/'),
  );
  expect(routes.length).toBeGreaterThan(20);
  const answers = routes.map(asked);
  // A fit or a search would begin beside the models that are read back; one user, one item and a session are asked of them.
  const waitsFor = [
    'POST /api/admin/fit',
    'POST /api/admin/search',
    'POST /api/admin/session',
    'GET /api/admin/activity/stream',
    'GET /api/admin/user/{user-id}',
    'GET /api/admin/item/{item-id}',
  ];
  const isToWait = ({ method, path }: (typeof routes)[number]) => waitsFor.includes(`${method} ${path}`);
  await Promise.all(answers.filter((_, at) => !isToWait(routes[at]!)));
  await delay(100);
  expect([...waiting]).toEqual(waitsFor);
});

test('a start whose database does not answer refuses requests, those that wait already among them', async () => {
  let restored = () => {};
  const starting = new Promise<void>((resolve) => {
    restored = resolve;
  });
  let isThere = true;
  const barrier = {
    pass: () => undefined,
    lacks: () => false,
    answers: () => Promise.resolve(isThere),
    position: 0,
    isUnsure: false,
  };
  const recommender = { recommendReady: () => undefined, recommend: () => answered('[]') };
  const pipeline = pipelineOver({ recommender }, starting, barrier);
  const asked = async () => pipeline.answer(pipeline.open(headOf({ path: '/api/recommend/u' })));
  const early = asked();
  await new Promise((resolve) => setImmediate(resolve));
  isThere = false;
  for (const reply of [await early, await asked()]) {
    expect(reply.status).toBe(503);
    expect(reply.headers).toContainEqual(['Retry-After', '1']);
    expect(JSON.parse(String(reply.body))).toMatchObject({ code: 'STORE_UNAVAILABLE' });
  }
  isThere = true;
  const late = asked();
  restored();
  expect(await late).toMatchObject({ status: 200 });
});

test('what waited for the models is answered one a turn of the event loop, and not for who has hung up', async () => {
  let restored = () => {};
  const starting = new Promise<void>((resolve) => {
    restored = resolve;
  });
  let turn = 0;
  const handledIn = new Map<string, number>();
  const recommender = {
    recommendReady: () => undefined,
    recommend(userId: string) {
      handledIn.set(userId, turn);
      return answered('[]');
    },
  };
  const pipeline = pipelineOver({ recommender }, starting);
  const asked = (userId: string) => {
    const exchange = pipeline.open(headOf({ path: `/api/recommend/${userId}` }));
    return { exchange, reply: Promise.resolve(pipeline.answer(exchange)) };
  };
  const waiting = ['a', 'b', 'gone', 'c', 'leaves'].map(asked);
  pipeline.abandon(waiting[2]!.exchange);
  expect(await waiting[2]!.reply).toMatchObject({ status: 503 });
  restored();
  await starting;
  pipeline.abandon(waiting[4]!.exchange);
  let isOver = false;
  const count = () => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  count();
  const statuses = await Promise.all(waiting.map(async ({ reply }) => (await reply).status));
  isOver = true;
  expect(statuses).toEqual([200, 200, 503, 200, 503]);
  expect([...handledIn.keys()]).toEqual(['a', 'b', 'c']);
  expect(new Set(handledIn.values()).size).toBe(3);
});

test('no more requests wait for the models than there is room for', async () => {
  const gate = new StartGate(new Promise<void>(() => {}), undefined, 1);
  const first = new AbortController();
  const waiting = gate.pass(first.signal);
  const { signal } = new AbortController();
  await expect(gate.pass(signal)).rejects.toMatchObject({ code: 'OVERLOADED' });
  first.abort();
  await expect(waiting).rejects.toBe(first.signal.reason);
  void gate.pass(signal);
  await expect(gate.pass(signal)).rejects.toMatchObject({ code: 'OVERLOADED' });
});
