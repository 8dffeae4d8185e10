import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/domain/request-limits.ts';
import { mayDo, ROLES, type Role } from '../../src/domain/roles.ts';
import { writes } from '../../src/http/route/route.ts';
import { createRoutes } from '../../src/http/route-table.ts';
import { sendRaw } from './raw.ts';
import { startTestServer, type TestServer } from './start.ts';

const keyOf = (role: Role) => `key-of-${role}`;

let server: TestServer;
beforeAll(async () => {
  const key = Object.fromEntries(ROLES.map((role) => [role, { value: keyOf(role), role }]));
  server = await startTestServer({ config: { server: { api_key: 'the-key' }, key } });
});
afterAll(() => server.stop());

/** What reads by a POST, and what needs no key; whoever adds to one of them does so here, too. */
const READS_BY_POST = [
  '/api/admin/placements/{placement-name}/preview',
  '/api/admin/session',
  '/api/session/recommend',
  '/api/session/recommend/{category}',
  '/api/vectors/{space}/search',
];
const OPEN = [
  '/',
  '/api/health/live',
  '/api/health/ready',
  '/apidocs',
  '/apidocs.json',
  '/apidocs/errors',
  '/apidocs/{asset}',
  '/dashboard/{asset}',
  '/docs/{page}',
];

/** Routes that change what the service does or begin tasks, by the role that they take. */
const BEYOND_WRITING: Partial<Record<Role, RegExp>> = {
  operate: /^\/api\/admin\/(placements|experiments)\//,
  own: /^\/api\/admin\/(backup|compact|evaluation|fit|search$|model\/)/,
};

const table = createRoutes('1', DEFAULT_LIMITS);

test('the table has no route that reads by POST or is open beside those that are known', () => {
  const paths = (routes: typeof table) => routes.map(({ path }) => path).sort();
  expect(paths(table.filter(({ reads }) => reads === true))).toEqual([...READS_BY_POST].sort());
  expect(paths(table.filter(({ open }) => open === true))).toEqual([...OPEN].sort());
});

test.each(
  table.filter(({ open }) => open !== true).map((route) => [`${route.method} ${route.path}`, route] as const),
)('%s: each key may do what its role says, and nobody anything without one', async (_, route) => {
  const { method, path } = route;
  const isWrite = method !== 'GET' && !READS_BY_POST.includes(path);
  expect(writes(route)).toBe(isWrite);
  const beyond = (['own', 'operate'] as const).find((role) => BEYOND_WRITING[role]!.test(path));
  const needed: Role = isWrite ? (beyond ?? 'write') : 'read';
  const line = `${method} ${path.replaceAll(/\{[^}]+\}/g, 'none')}`;
  // A body that no route takes: who may write is told so.
  const ask = async (headers: string) => {
    const text = `${line} HTTP/1.1\r\nHost: a\r\n${headers}Content-Length: 1\r\n\r\n!`;
    const answer = (await sendRaw(server.port, text))[0]!;
    // A cache on the way that knows nothing of this key would hand it to others.
    expect(answer.headers['cache-control']).toBe('no-store');
    return answer;
  };
  for (const headers of ['', 'X-API-Key: other\r\n', 'X-API-Key:\r\n', `Authorization: ${keyOf('own')}\r\n`])
    expect((await ask(headers)).status, headers).toBe(401);
  for (const role of ROLES.filter((each) => !mayDo(each, needed)))
    expect((await ask(`X-API-Key: ${keyOf(role)}\r\n`)).status, role).toBe(403);
  // What an owner may do takes minutes, some of it.
  if (needed === 'own' || path.endsWith('/stream')) return;
  for (const role of ROLES.filter((each) => mayDo(each, needed)))
    expect([401, 403], role).not.toContain((await ask(`X-API-Key: ${keyOf(role)}\r\n`)).status);
});
