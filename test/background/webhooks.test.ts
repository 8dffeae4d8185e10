import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { TaskList, type TaskResult } from '../../src/background/tasks/task-list.ts';
import { Webhooks } from '../../src/background/tasks/webhooks.ts';

const KEY = 'a-key-of-the-receiver';
const PATH = '/hooks/a-secret-path';
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A receiver that answers with these statuses in turn, the last for good, and what sends to it. */
async function setUp(statuses: readonly number[]) {
  const got: { readonly headers: IncomingHttpHeaders; readonly body: Record<string, unknown> }[] = [];
  const server = createServer((request, answer) => {
    let text = '';
    request.on('data', (part) => (text += part));
    request.on('end', () => {
      answer.statusCode = statuses[Math.min(got.length, statuses.length - 1)]!;
      got.push({ headers: request.headers, body: JSON.parse(text) });
      answer.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`;
  const logged: unknown[] = [];
  const log = { warn: (...line: unknown[]) => void logged.push(line) };
  const webhooks = new Webhooks(url, { key: KEY, qualityFall: 0.1, log: log as never, retryMs: 1 });
  ends.push(
    () => webhooks.stop(),
    () => server.close(),
  );
  const states = { getState: async () => undefined, putState: async () => {} };
  const tasks = new TaskList(
    () => 0,
    states as never,
    (task, before) => webhooks.note(task, before),
  );
  const publish = (result: TaskResult) =>
    tasks.begin('fit').done({ generation: 1, unchanged: false, ...result });
  return { got, logged, tasks, publish, webhooks, server };
}

it('tells of each fit that is published, and of a quality that fell by more than is allowed', async () => {
  const { got, publish, tasks } = await setUp([204]);
  publish({ 'lists NDCG@10': 0.2 });
  publish({ 'lists NDCG@10': 0.19, generation: 2 });
  publish({ unchanged: true });
  tasks.begin('fit').failed(new Error('no memory'));
  tasks.begin('backup').done({ generation: 9 });
  tasks.begin('fit').done({ nothing: 'no feedback' });
  publish({ 'lists NDCG@10': 0.1, generation: 3 });
  await expect.poll(() => got.length).toBe(4);
  const told = got.map(({ body }) => [body.Event, (body.Result as TaskResult).generation]);
  expect(told).toEqual([
    ['fit_published', 1],
    ['fit_published', 2],
    ['fit_published', 3],
    ['quality_fell', 3],
  ]);
  expect(got[3]!.body).toMatchObject({ Before: 0.19, Time: '1970-01-01T00:00:00Z' });
  expect(got[0]!.headers.authorization).toBe(`Bearer ${KEY}`);
});

it('tries again where the receiver fails, and goes on with the next after a bounded number of times', async () => {
  const { got, publish, logged } = await setUp([500, 302, ...Array(6).fill(503), 200]);
  publish({ generation: 1 });
  publish({ generation: 2 });
  await expect.poll(() => got.length).toBe(9);
  const generations = got.map(({ body }) => (body.Result as TaskResult).generation);
  expect(generations).toEqual([1, 1, 1, 1, 1, 1, 2, 2, 2]);
  expect(logged).toEqual([
    [{ event: 'fit_published', why: 'status 503' }, 'a webhook could not be delivered'],
  ]);
});

it('logs neither key nor address where nobody listens, and lets few events wait', async () => {
  const { publish, logged, server, webhooks } = await setUp([200]);
  await new Promise((resolve) => server.close(resolve));
  for (let at = 0; at < 30; at++) publish({ generation: at });
  await expect.poll(() => logged.length).toBe(30);
  expect(JSON.stringify(logged)).not.toContain(KEY);
  expect(JSON.stringify(logged)).not.toContain(PATH);
  expect(JSON.stringify(logged)).toContain('ECONNREFUSED');
  await webhooks.stop();
});

it('refuses what is no address of the web, without showing it', () => {
  for (const url of ['nonsense', 'ftp://a/b', 'file:///etc/passwd'])
    expect(() => new Webhooks(url, { key: '', qualityFall: 0.1, log: { warn() {} } as never })).toThrow(
      /^\[webhooks\] url is no address that begins with http:\/\/ or https:\/\/$/,
    );
});
