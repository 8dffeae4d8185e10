import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/domain/request-limits.ts';
import { jsonText } from '../../src/http/route/reply.ts';
import { type Route, readsData, writes } from '../../src/http/route/route.ts';
import { createRoutes } from '../../src/http/route-table.ts';
import { SingleFlight } from '../../src/platform/concurrency/single-flight.ts';
import { type RoutesServer, serveRoutes } from './serve-routes.ts';

/** Answers of one record, which take no longer whatever is asked for. */
const ONE_RECORD = ['/api/user/{user-id}', '/api/item/{item-id}', '/api/item/{item-id}/vectors/{space}'];
const MANY = 6;

/** Counts rounds of the event loop. */
let round = 0;
let goesOn = true;
const count = () => {
  round++;
  if (goesOn) setImmediate(count);
};

/** Rounds in which the handler was called, by route. */
const rounds = new Map<string, number[]>();
const nameOf = ({ method, path }: Route) => `${method} ${path}`;
const table = createRoutes('1', DEFAULT_LIMITS).map(
  (route): Route => ({
    ...route,
    handler() {
      rounds.set(nameOf(route), [...(rounds.get(nameOf(route)) ?? []), round]);
      return jsonText('1');
    },
  }),
);

let server: RoutesServer;
beforeAll(async () => {
  server = await serveRoutes(table);
  count();
});
afterAll(() => {
  goesOn = false;
  return server.close();
});

/** Sends as many requests at once, each over a connection of its own, and tells the rounds in which they were answered. */
async function answeredIn(route: Route, query: string, body = ''): Promise<number[]> {
  rounds.delete(nameOf(route));
  const path = route.path.replaceAll(/\{[^}]+\}/g, 'x');
  const text = `${route.method} ${path}?${query} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const sockets = Array.from({ length: MANY }, () => connect(server.port, '127.0.0.1'));
  await Promise.all(sockets.map((socket) => new Promise<void>((resolve) => socket.once('connect', resolve))));
  const answers = sockets.map(
    (socket) => new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data)))),
  );
  for (const socket of sockets) socket.write(text);
  for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  for (const socket of sockets) socket.destroy();
  return rounds.get(nameOf(route))!;
}

const reading = table.filter((route) => readsData(route) || route.bearer === true);
const long = reading.filter(({ path }) => !ONE_RECORD.includes(path));

test.each(long.map((route) => [nameOf(route), route] as const))(
  '%s: of many that ask for all there may be, each is answered in a turn of its own',
  async (_, route) => {
    const body = route.reads === true ? '[]' : '';
    const answered = await answeredIn(route, route.query?.includes('n') ? 'n=10000' : '', body);
    expect(new Set(answered).size).toBe(MANY);
  },
);

test.each([
  'offset=9000',
  ...['category', 'label', 'not-label'].map(
    (name) => `${name}=${Array(16).fill('x').join(`&${name}=`)}&exclude=y`,
  ),
  `exclude=${Array(17).fill('x').join(',')}`,
])('so are those with much to leave out: %s', async (query) => {
  const route = table.find(({ path }) => path === '/api/recommend/{user-id}')!;
  expect(new Set(await answeredIn(route, query)).size).toBe(MANY);
});

test('a long body is dealt with in a turn of its own', async () => {
  const route = table.find(({ path }) => path === '/api/impressions')!;
  expect(writes(route)).toBe(true);
  expect(new Set(await answeredIn(route, '', `[${' '.repeat(20_000)}]`)).size).toBe(MANY);
});

test('those who waited for one piece of work go on one after the other', async () => {
  const joint = new SingleFlight<number>();
  const wentOn: number[] = [];
  let end = (_: number) => {};
  const work = () => new Promise<number>((resolve) => (end = resolve));
  const callers = Array.from({ length: MANY }, async () => {
    await joint.run('same', undefined, work);
    wentOn.push(round);
  });
  end(1);
  await Promise.all(callers);
  expect(new Set(wentOn).size).toBe(MANY);
});

test.each(['GET', 'POST'] as const)(
  'of many answers with all there may be few are under way at a time (%s)',
  async (method) => {
    const works: (() => void)[] = [];
    let begun = 0;
    const asked: Route = {
      ...table.find((one) => one.path === '/api/recommend/{user-id}')!,
      method,
      reads: true,
      async handler() {
        begun++;
        await new Promise<void>((resolve) => works.push(resolve));
        return jsonText('1');
      },
      ...(method === 'POST' && { body: { schema: {}, example: [] } }),
    };
    const own = await serveRoutes([asked]);
    const url = `${own.base}/api/recommend/x?n=10000`;
    const init = { method, headers: { Host: 'a' }, ...(method === 'POST' && { body: '[]' }) };
    const answers = Array.from({ length: 40 }, () => fetch(url, init).then(({ status }) => status));
    for (let ended = 0; ended < answers.length; ended++) {
      await expect.poll(() => begun, { interval: 1 }).toBe(Math.min(ended + 16, answers.length));
      works.shift()!();
    }
    expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
    await own.close();
  },
);
