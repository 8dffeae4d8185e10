import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import Type from 'typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/domain/request-limits.ts';
import { HttpServer } from '../../src/http/http-server.ts';
import { createMetrics } from '../../src/http/metrics/metrics.ts';
import { json, jsonText } from '../../src/http/route/reply.ts';
import { route } from '../../src/http/route/route.ts';
import type { Services } from '../../src/http/route/services.ts';
import { createLogger } from '../../src/platform/log/log.ts';
import { sendRaw } from './raw.ts';

import { engine, isOldNative, OPEN_ACCESS, WIDE } from './serve-routes.ts';

const response = { description: '' };
const common = { tag: 't', summary: 's', response } as const;
let release: () => void = () => {};
/** Requests that reached the handler which holds them. */
let held = 0;

/** Waits until so many requests are held; in vain, the test runs into its time limit. */
async function untilHeld(count: number): Promise<void> {
  while (held < count) await delay(2);
}

const routes = [
  route({ ...common, method: 'GET', path: '/sync/{user-id}', handler: ({ params }) => json(params) }),
  route({ ...common, method: 'GET', path: '/late', handler: () => delay(5).then(() => jsonText('"late"')) }),
  route({
    ...common,
    method: 'GET',
    path: '/held',
    handler: () =>
      new Promise((resolve) => {
        held++;
        release = () => resolve(jsonText('"held"'));
      }),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/broken',
    handler: () => Promise.reject(new Error('secret reason')),
  }),
  route({
    ...common,
    method: 'POST',
    path: '/echo',
    body: { schema: Type.Any(), example: '' },
    handler: ({ body }) => jsonText(Buffer.from(body).toString()),
  }),
  route({ ...common, method: 'POST', path: '/bodiless', handler: () => jsonText('"ok"') }),
];

const lines: string[] = [];
const log = createLogger('debug', { write: (line: string) => void lines.push(line) });
const services = { defaultN: 10, limits: DEFAULT_LIMITS } as Services;
const metrics = createMetrics({
  routes,
  stats: () => Promise.resolve({ users: 1, items: 2, feedback: 3, bytes: 4 }),
});

function start(apiKey = '', port = 0) {
  return new HttpServer({
    engine,
    routes,
    services,
    host: '127.0.0.1',
    port,
    access: { ...OPEN_ACCESS, api_key: apiKey },
    errorFormat: 'problem',
    limits: { ...DEFAULT_LIMITS, bodyBytesMax: 100_000 },
    connections: WIDE,
    tls: undefined,
    log,
    metrics,
  });
}

const server = start();
let port = 0;
let base = '';

beforeAll(async () => {
  ({ port } = await server.listen());
  base = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await server.close();
  metrics.close();
});

test('synchronous and late answers arrive, with id, origin and content type', async () => {
  for (const path of ['/sync/a', '/late']) {
    const answer = await fetch(base + path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{12}-\w+$/);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  }
});

test("a caller's request id is kept when it is sane", async () => {
  const ask = async (id: string) =>
    (await fetch(`${base}/sync/a`, { headers: { 'X-Request-ID': id } })).headers.get('x-request-id');
  expect(await ask('abc-1.2:3')).toBe('abc-1.2:3');
  expect(await ask('a b')).not.toBe('a b');
  expect(await ask('x'.repeat(129))).not.toContain('xxx');
});

test('a path is split first and decoded after; one trailing slash is none', async () => {
  const ask = async (path: string) => {
    const answer = await fetch(base + path);
    return answer.status === 200 ? answer.json() : answer.status;
  };
  expect(await ask('/sync/a%2Fb')).toEqual({ 'user-id': 'a/b' });
  expect(await ask('/sync/a%20b+c/')).toEqual({ 'user-id': 'a b+c' });
  expect(await ask(`/sync/${encodeURIComponent('😀')}`)).toEqual({ 'user-id': '😀' });
  expect(await ask('/sync/__proto__')).toEqual({ 'user-id': '__proto__' });
  expect(await ask(`/sync/${'x'.repeat(512)}`)).toEqual({ 'user-id': 'x'.repeat(512) });
  expect(await ask(`/sync/${'x'.repeat(513)}`)).toBe(400);
  expect(await ask('/sync/%zz')).toBe(400);
  expect(await ask('/sync/%ff')).toBe(400);
  expect(await ask('/sync')).toBe(404);
  expect(await ask('/sync/')).toBe(404);
  expect(await ask('/sync//')).toBe(404);
  expect(await ask('/sync/a/b')).toBe(404);
});

test('HEAD is GET without the body, OPTIONS a preflight, another method 405 with Allow', async () => {
  const head = await fetch(`${base}/sync/a`, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect(head.headers.get('content-length')).toBe(String('{"user-id":"a"}'.length));
  const options = await fetch(`${base}/echo`, { method: 'OPTIONS' });
  expect(options.status).toBe(204);
  expect(options.headers.get('access-control-allow-methods')).toBe('POST, OPTIONS');
  expect(options.headers.get('access-control-allow-headers')).toContain('X-API-Key');
  const put = await fetch(`${base}/sync/a`, { method: 'PUT' });
  expect(put.status).toBe(405);
  expect(put.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  expect(put.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect((await fetch(`${base}/none`, { method: 'OPTIONS' })).status).toBe(404);
});

test('a method that no route has is a 405; the old native build closes the connection of those that it does not know', async () => {
  for (const method of ['TRACE', 'CONNECT', 'PROPFIND', 'M-SEARCH', 'LOCK']) {
    const [answer] = await sendRaw(
      port,
      `${method} /sync/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    );
    const isRouted =
      engine.name === 'node' ? method !== 'CONNECT' : !isOldNative || ['TRACE', 'CONNECT'].includes(method);
    expect(answer?.status).toBe(isRouted ? 405 : undefined);
  }
});

test('a bug is a 500 that tells nothing, and the log has the stack and the id', async () => {
  const answer = await fetch(`${base}/broken`, { headers: { 'X-Request-ID': 'find-me' } });
  const text = await answer.text();
  expect(answer.status).toBe(500);
  expect(JSON.parse(text)).toMatchObject({ code: 'INTERNAL', status: 500 });
  expect(text).not.toContain('secret reason');
  const line = lines.find((entry) => entry.includes('find-me') && entry.includes('"err"'));
  expect(line).toContain('secret reason');
  expect(line).toContain('transport.test.ts');
});

test('bodies arrive whole: none, one chunk, many, chunked', async () => {
  const large = JSON.stringify('x'.repeat(90_000));
  for (const body of ['', '"x"', large]) {
    expect(await (await fetch(`${base}/echo`, { method: 'POST', body })).text()).toBe(body);
  }
  const chunked =
    'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n"a"\r\n2\r\n  \r\n0\r\n\r\n';
  expect((await sendRaw(port, chunked))[0]).toMatchObject({ status: 200, body: '"a"  ' });
});

test('a body over the limit is a 413, by its length or while it streams, and the connection lives on', async () => {
  const next = 'GET /sync/a HTTP/1.1\r\nHost: a\r\n\r\n';
  const long = 'x'.repeat(200_000);
  const known = `POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: ${long.length}\r\n\r\n${long}${next}`;
  expect((await sendRaw(port, known, 2)).map(({ status }) => status)).toEqual([413, 200]);
  const chunks = `${(50_000).toString(16)}\r\n${'x'.repeat(50_000)}\r\n`.repeat(4);
  const streamed = `POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`;
  const [refused] = await sendRaw(port, streamed);
  expect(JSON.parse(refused!.body)).toMatchObject({ code: 'BODY_TOO_LARGE', status: 413 });
  // The native engine is not sure of the end of chunks.
  if (engine.name === 'uws') expect(refused!.headers.connection).toBe('close');
  else expect((await sendRaw(port, streamed + next, 2))[1]!.status).toBe(200);
});

test('a body that nobody asked for is passed over', async () => {
  const next = 'GET /sync/b HTTP/1.1\r\nHost: a\r\n\r\n';
  for (const head of ['GET /sync/a', 'POST /bodiless', 'GET /none']) {
    const text = `${head} HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nGET ${next}`;
    const answers = await sendRaw(port, text, 2);
    expect(answers.map(({ status }) => status)).toEqual([head === 'GET /none' ? 404 : 200, 200]);
    expect(answers[1]!.body).toBe('{"user-id":"b"}');
  }
});

test('two Content-Length headers are refused', async () => {
  for (const head of ['POST /echo', 'GET /sync/a']) {
    const text = `${head} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n"a"`;
    const [answer] = await sendRaw(port, text);
    expect(answer!.status).toBe(400);
    expect(JSON.parse(answer!.body).code).toBe('BAD_REQUEST');
  }
});

test('a body that nobody asked for is passed over before a late answer too', async () => {
  const text = 'GET /late HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nGET ';
  expect((await sendRaw(port, text))[0]).toMatchObject({ status: 200, body: '"late"' });
});

test('pipelined requests are answered in order; one that overtakes a late answer waits, or is not heard', async () => {
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const bodies = (await sendRaw(port, request('/sync/1') + request('/sync/2'), 2)).map(({ body }) => body);
  expect(bodies).toEqual(['{"user-id":"1"}', '{"user-id":"2"}']);
  const overtaking = await sendRaw(port, request('/late') + request('/sync/2'), 2);
  // uWebSockets.js closes the connection.
  const inOrder = engine.name === 'node' ? ['"late"', '{"user-id":"2"}'] : [];
  expect(overtaking.map(({ body }) => body)).toEqual(inOrder);
  expect((await fetch(`${base}/sync/a`)).status).toBe(200);
});

test('a connection that always has some requests under way is answered for as long as it likes', async () => {
  // Over uWebSockets.js none may come before a late answer.
  const path = engine.name === 'node' ? '/late' : '/sync/1';
  const request = `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const socket = connect(port, '127.0.0.1');
  let answered = 0;
  socket.write(request.repeat(16));
  for await (const chunk of socket) {
    const came = String(chunk).split('HTTP/1.1 200').length - 1;
    answered += came;
    if (answered >= 500) break;
    socket.write(request.repeat(came));
  }
  expect(answered).toBeGreaterThanOrEqual(500);
});

test('a caller who hangs up leaves no trace', async () => {
  const aborted = new AbortController();
  const before = held;
  const asked = fetch(`${base}/held`, { signal: aborted.signal });
  await untilHeld(before + 1);
  aborted.abort();
  await expect(asked).rejects.toThrow();
  await delay(30);
  release();
  expect((await fetch(`${base}/sync/a`)).status).toBe(200);
});

test('close waits for what is in flight and listens no more', async () => {
  const other = start();
  const address = await other.listen();
  const before = held;
  const asked = fetch(`http://127.0.0.1:${address.port}/held`);
  await untilHeld(before + 1);
  let closed = false;
  const closing = other.close().then(() => (closed = true));
  await delay(30);
  expect(closed).toBe(false);
  release();
  expect(await (await asked).text()).toBe('"held"');
  await closing;
  await expect(fetch(`http://127.0.0.1:${address.port}/sync/a`)).rejects.toThrow();
});

test('a port that is taken is an error', async () => {
  await expect(start('', port).listen()).rejects.toThrow(`127.0.0.1:${port}`);
});

test('requests are counted by route, method and status', async () => {
  await fetch(`${base}/sync/a`);
  await fetch(`${base}/nowhere`);
  const text = await metrics.text();
  expect(text).toMatch(
    /furze_http_requests_total\{route="\/sync\/\{user-id\}",method="GET",status="200"\} \d+/,
  );
  expect(text).toMatch(/furze_http_requests_total\{route="none",method="any",status="404"\} \d+/);
  expect(text).toMatch(/furze_http_request_duration_seconds_bucket\{route="\/late",[^}]*le="\+Inf"\} \d+/);
  expect(text).toContain('furze_store_rows{kind="feedback"} 3');
  expect(text).toContain('furze_store_bytes 4');
  expect(text).toMatch(/furze_event_loop_delay_seconds_bucket\{le="0.001"\} \d+/);
});

test('a target that is no path is no route, whatever an engine takes', async () => {
  for (const target of ['*', '*sync/u1', 'xsync/u1', '\\\\sync/u1', 'http://a/sync/u1', '?/sync/u1']) {
    const text = `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
    const answers = await sendRaw(port, text, 1, 2000);
    expect([undefined, 400, 404, 505], target).toContain(answers[0]?.status);
  }
});

test('what is expected of the server beside going on is passed over by both engines', async () => {
  const text = 'POST /echo HTTP/1.1\r\nHost: a\r\nExpect: more\r\nContent-Length: 2\r\n\r\n12';
  const [answer] = await sendRaw(port, text);
  expect(answer).toMatchObject({ status: 200, body: '12' });
});
