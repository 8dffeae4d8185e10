import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ERRORS } from '../../src/domain/furze-error.ts';
import { DEFAULT_LIMITS } from '../../src/domain/request-limits.ts';
import { createRoutes } from '../../src/http/route-table.ts';
import { sendRaw } from './raw.ts';
import { engine, isOldNative } from './serve-routes.ts';
import { startTestServer, type TestServer } from './start.ts';

const KEY = 'a-very-secret-key';
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ config: { server: { api_key: KEY } } });
});
afterAll(() => server.stop());

test('data needs the key; health, the API page and its files do not', async () => {
  const { call } = server;
  for (const path of ['/api/users', '/api/latest', '/metrics', '/api/recommend/u']) {
    const answer = await call('GET', path);
    expect(answer.status).toBe(401);
    expect(answer.body.code).toBe('UNAUTHORIZED');
    expect((await call('GET', path, undefined, { 'X-API-Key': 'wrong' })).status).toBe(401);
    expect((await call('GET', path, undefined, { 'X-API-Key': KEY })).status).toBe(200);
  }
  expect((await call('POST', '/api/user', { UserId: 'a' })).status).toBe(401);
  expect((await call('GET', '/metrics', undefined, { Authorization: `Bearer ${KEY}` })).status).toBe(200);
  expect((await call('GET', '/api/users', undefined, { Authorization: `Bearer ${KEY}` })).status).toBe(401);
  const open = [
    '/api/health/live',
    '/api/health/ready',
    '/apidocs',
    '/apidocs/',
    '/apidocs.json',
    '/apidocs/errors',
  ];
  for (const path of open) expect((await call('GET', path)).status).toBe(200);
});

test('the key stands in no log line, metric or answer', async () => {
  const metrics = await server.call('GET', '/metrics', undefined, { 'X-API-Key': KEY });
  expect(metrics.text).toContain('furze_http_requests_total');
  expect(metrics.text).toContain('furze_store_rows{kind="users"}');
  expect(metrics.text + server.lines.join('')).not.toContain(KEY);
});

test('health tells of both stores', async () => {
  const healthy = {
    CacheStoreConnected: true,
    CacheStoreError: '',
    DataStoreConnected: true,
    DataStoreError: '',
    Ready: true,
  };
  expect((await server.call('GET', '/api/health/live')).body).toEqual(healthy);
  expect((await server.call('GET', '/api/health/ready')).body).toEqual(healthy);
});

test('the API page comes from here with all its files', async () => {
  const page = (await server.call('GET', '/apidocs')).text;
  const files = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
  expect(files.length).toBeGreaterThan(4);
  for (const path of files) {
    expect(path).toMatch(/^\/apidocs\//);
    expect((await server.call('GET', path)).status).toBe(200);
  }
  expect((await server.call('GET', '/apidocs/package.json')).status).toBe(404);
  expect((await server.call('GET', '/apidocs/..%2Fpackage.json')).status).toBe(404);
});

test('a page of the documentation comes as it was written, and nothing else', async () => {
  const { text, headers } = await server.call('GET', '/docs/configuration.md');
  expect(text).toBe(readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8'));
  expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
  for (const name of ['no-such.md', '..%2FREADME.md', 'dashboard.png', 'architecture'])
    expect((await server.call('GET', `/docs/${name}`)).status, name).toBe(404);
});

test('the OpenAPI document has every route, and every reference in it leads somewhere', async () => {
  const { body } = await server.call('GET', '/apidocs.json');
  expect(body.openapi).toBe('3.1.0');
  const operationIds = new Set<string>();
  const routes = createRoutes('0.0.0', DEFAULT_LIMITS);
  for (const route of routes) {
    const operation = body.paths[route.path][route.method.toLowerCase()];
    expect(operation.summary).toBe(route.summary);
    expect(operation.responses['200']).toBeDefined();
    expect(operation.responses['500']).toBeDefined();
    // The host is looked at before the route is.
    expect(operation.responses['421']).toBeDefined();
    const declared = [...route.path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]);
    const paths = operation.parameters.filter((parameter: { in: string }) => parameter.in === 'path');
    expect(paths.map((parameter: { name: string }) => parameter.name)).toEqual(declared);
    operationIds.add(operation.operationId);
  }
  expect(operationIds.size).toBe(routes.length);
  const references = [...JSON.stringify(body).matchAll(/"\$ref":"#([^"]+)"/g)].map((match) => match[1]!);
  expect(references.length).toBeGreaterThan(50);
  for (const reference of new Set(references)) {
    const found = reference
      .slice(1)
      .split('/')
      .reduce((node, name) => node?.[name], body);
    expect(found, reference).toBeDefined();
  }
});

test('docs/errors.md describes every code with its status', () => {
  const text = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  for (const [code, { status }] of Object.entries(ERRORS)) {
    expect(text).toMatch(new RegExp(`^## ${code}\\n+Status ${status}\\.`, 'm'));
  }
});

test('the OpenAPI document says what is enforced', async () => {
  const { body } = await server.call('GET', '/apidocs.json');
  const recommend = body.paths['/api/recommend/{user-id}'].get;
  const schemaOf = (name: string) =>
    recommend.parameters.find((parameter: { name: string }) => parameter.name === name).schema;
  expect(schemaOf('n')).toEqual({ type: 'integer', minimum: 0, maximum: 10_000 });
  expect(schemaOf('offset').maximum).toBe(10_000);
  expect(schemaOf('user-id')).toMatchObject({ minLength: 1, maxLength: 512 });
  const { ItemBody, FeedbackBody, Feedback } = body.components.schemas;
  const fits = (schema: { pattern: string }, text: string) => new RegExp(schema.pattern, 'u').test(text);
  expect(fits(ItemBody.properties.ItemId, 'a')).toBe(true);
  expect(fits(ItemBody.properties.ItemId, 'a/b')).toBe(false);
  expect(ItemBody.properties.Categories).toMatchObject({ maxItems: 512, items: { maxLength: 1024 } });
  for (const time of ['', '2022-03-04', '2022-03-04 05:06', '2022-03-04T05:06:07.678+01:00'])
    expect(fits(FeedbackBody.properties.Timestamp, time), time).toBe(true);
  expect(fits(FeedbackBody.properties.Timestamp, 'today')).toBe(false);
  expect(fits(Feedback.properties.Timestamp, '2022-03-04T05:06:07.678Z')).toBe(true);
  expect(JSON.stringify(body)).not.toContain('"rule"');
});

test('the OpenAPI document names of each operation those errors that it can answer', async () => {
  const { body } = await server.call('GET', '/apidocs.json');
  for (const [path, operations] of Object.entries<Record<string, { responses: object }>>(body.paths)) {
    for (const [method, { responses }] of Object.entries(operations)) {
      expect(JSON.stringify(responses), `${method} ${path}`).toContain('/Error405');
      if (method === 'get') expect(JSON.stringify(responses), path).not.toContain('INVALID_JSON');
    }
  }
  const [post] = [body.paths['/api/feedback'].post];
  expect(Object.keys(post.responses[400].content['application/problem+json'].examples)).toEqual([
    'INVALID_JSON',
    'INVALID_BODY',
  ]);
});

test('nothing that makes a request write is filled in on the page', async () => {
  const { body } = await server.call('GET', '/apidocs.json');
  const { parameters, description } = body.paths['/api/recommend/{user-id}'].get;
  const writing = parameters.filter(({ name }: { name: string }) => name.startsWith('write-back'));
  expect(writing).toHaveLength(2);
  for (const parameter of writing) {
    expect(parameter.description).toMatch(/Stores|stored/);
    for (const place of [parameter, parameter.schema]) expect(place).not.toHaveProperty('example');
    expect(parameter.schema).not.toHaveProperty('examples');
    expect(parameter.schema).not.toHaveProperty('default');
  }
  expect(description).toContain('write-back-type');
});

test('a method that no route has is answered, and one that the engine does not know ends at once', async () => {
  const ask = async (method: string) => {
    const [answer] = await sendRaw(server.port, `${method} /api/users HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    return answer;
  };
  for (const method of ['TRACE', 'PATCH'])
    expect(await ask(method), method).toMatchObject({
      status: 405,
      headers: { allow: expect.stringContaining('GET') },
    });
  // The old native build has an entry for nine methods, and ends the connection of any other before a route is asked.
  for (const method of ['PROPFIND', 'SEARCH'])
    expect((await ask(method))?.status, method).toBe(isOldNative ? undefined : 405);
  // node:http refuses what is no method of the registry.
  expect((await ask('FOO'))?.status).toBe(isOldNative ? undefined : engine.name === 'node' ? 400 : 405);
  expect((await server.call('GET', '/api/health/live')).status).toBe(200);
});

test('the metrics are as Prometheus wants them, and tell of fits, feedback and lists', async () => {
  const headers = { 'X-API-Key': KEY };
  await server.call(
    'POST',
    '/api/feedback',
    [{ FeedbackType: 'seen "so"', UserId: 'm', ItemId: 'm' }],
    headers,
  );
  const { text } = await server.call('GET', '/metrics', undefined, headers);
  expect(text).toMatch(/furze_build_info\{version="[^"]+",node_version="v\d+[^"]*"\} 1/);
  expect(text).toMatch(/process_start_time_seconds \d+/);
  expect(text).toMatch(/nodejs_heap_size_used_bytes \d+/);
  expect(text).toContain('furze_feedback{type="seen \\"so\\"",positive="false",read="false"} 1');
  expect(text).toContain('furze_model_generation 0');
  expect(text).toMatch(/furze_lists_behind \d/);
  // No fit has ended, so nothing is told of the last one.
  expect(text).not.toMatch(/^furze_last_fit_success/m);
  try {
    execFileSync('promtool', ['check', 'metrics'], { input: text, stdio: 'pipe' });
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: string; stdout?: Buffer; stderr?: Buffer };
    if (code !== 'ENOENT') throw new Error(`promtool: ${stdout}${stderr}`);
    console.warn('SKIPPED: promtool is not installed, so the form of the metrics was not checked');
  }
});
