import { afterAll, beforeAll, expect, test } from 'vitest';
import { Hosts } from '../../src/http/pipeline/access.ts';
import { sendRaw } from './raw.ts';
import { startTestServer, type TestServer } from './start.ts';

const KEYS = { api_key: 'first-key', api_keys: ['second key'], read_only_api_key: 'reader-key' };
const OWN = 'https://shop.example';
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

let keyed: TestServer;
let open: TestServer;
beforeAll(async () => {
  keyed = await startTestServer({ config: { server: KEYS } });
  open = await startTestServer({ config: { server: { host: '0.0.0.0', cors_origins: [OWN] } } });
});
afterAll(async () => {
  await keyed?.stop();
  await open?.stop();
});

/** Sends one request with these headers as they are and tells the answer's status and code. */
async function ask(server: TestServer, line: string, headers: Record<string, string>) {
  const head = Object.entries({ Host: `127.0.0.1:${server.port}`, ...headers });
  const text = `${line} HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}Content-Length: 15\r\n\r\n{"UserId":"u1"}`;
  const [answer] = await sendRaw(server.port, text);
  const code = answer!.body.startsWith('{"type"') ? (JSON.parse(answer!.body) as { code: string }).code : '';
  return { status: answer!.status, code };
}

const WRITE = 'POST /api/user';
const WRITE_BACK = 'GET /api/recommend/u1?write%2Dback-type=read';
const allowed = { status: 200, code: '' };

test('each key counts, by any of them', async () => {
  for (const key of ['first-key', 'second key']) {
    expect(await ask(keyed, WRITE, { 'X-API-Key': key })).toEqual(allowed);
    expect(await ask(keyed, 'GET /metrics', { Authorization: `Bearer ${key}` })).toEqual(allowed);
  }
  for (const key of ['', 'first-key2', 'second', 'reader-key '.repeat(2)]) {
    expect(await ask(keyed, WRITE, { 'X-API-Key': key })).toEqual({ status: 401, code: 'UNAUTHORIZED' });
  }
});

// Bytes around a value are no part of it to the native engine (docs/security.md): the key itself must be sent all the same.
test('bytes above ASCII make no key of what is none', async () => {
  for (const byte of ['\x80', '\x85', '\xa0', '\xff'])
    for (const key of [
      byte,
      `${byte}first-ke`,
      `first-ke${byte}`,
      `first${byte}-key`,
      `first-key${byte}second key`,
    ])
      expect(await ask(keyed, WRITE, { 'X-API-Key': key })).not.toEqual(allowed);
});

test('a read-only key reads, sessions included, and writes nothing', async () => {
  const reader = { 'X-API-Key': 'reader-key' };
  const call = (method: string, path: string, body?: unknown) => keyed.call(method, path, body, reader);
  for (const path of ['/api/users', '/api/recommend/u1', '/api/latest', '/metrics']) {
    expect((await call('GET', path)).status).toBe(200);
  }
  expect((await call('POST', '/api/session/recommend', [])).status).toBe(200);
  const refused = { status: 403, code: 'READ_ONLY_KEY' };
  for (const line of [WRITE, 'PUT /api/feedback', 'DELETE /api/user/u1', 'PATCH /api/item/i', WRITE_BACK]) {
    expect(await ask(keyed, line, reader), line).toEqual(refused);
  }
});

test('with a key any origin may ask, as a page cannot know the key', async () => {
  const foreign = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
  expect(await ask(keyed, WRITE, { ...foreign, 'X-API-Key': 'first-key' })).toEqual(allowed);
});

test.each([
  ['no browser', {}],
  ['a page of the server itself', { Origin: 'http://127.0.0.1:PORT', 'Sec-Fetch-Site': 'same-origin' }],
  ['a page of the server by its local name', { Host: 'localhost:PORT', Origin: 'http://localhost:PORT' }],
  ['an origin that is configured', { Origin: OWN, 'Sec-Fetch-Site': 'cross-site' }],
  [
    'a page of the server that tells where it stands',
    { 'User-Agent': BROWSER, Referer: 'http://127.0.0.1:PORT/' },
  ],
  ['a program with a name of its own', { 'User-Agent': 'Go-http-client/1.1' }],
])('without a key %s may write', async (_who, headers) => {
  const real = JSON.parse(JSON.stringify(headers).replaceAll('PORT', String(open.port)));
  expect(await ask(open, WRITE, real)).toEqual(allowed);
  expect(await ask(open, WRITE_BACK, real)).toEqual(allowed);
});

test.each([
  ['a page of another origin', { Origin: 'https://evil.example' }],
  ['a page of another port', { Origin: 'http://127.0.0.1:1' }],
  ['a page without an origin', { Origin: 'null' }],
  ['an origin like a configured one', { Origin: 'https://shop.example.evil.example' }],
  ['an image of another page', { 'Sec-Fetch-Site': 'cross-site' }],
  ['an image of another page that tells only its browser', { 'User-Agent': BROWSER }],
  [
    'an image of another page that tells where it stands',
    { 'User-Agent': BROWSER, Referer: 'http://evil.example/' },
  ],
])('without a key %s may read and not write', async (_who, headers) => {
  const real = JSON.parse(JSON.stringify(headers).replaceAll('PORT', String(open.port)));
  const refused = { status: 403, code: 'FOREIGN_ORIGIN' };
  expect(await ask(open, WRITE, real)).toEqual(refused);
  expect(await ask(open, WRITE_BACK, real)).toEqual(refused);
  expect(await ask(open, 'GET /api/users', real)).toEqual(allowed);
  expect(await ask(open, 'POST /api/session/recommend', real)).toMatchObject({ status: 400 });
});

const EVERYTHING = [
  'GET /api/users',
  'GET /api/health/live',
  'GET /',
  'GET /metrics',
  'GET /nowhere',
  WRITE,
  WRITE_BACK,
];

test.each([
  ['a name', { Host: 'evil.example:PORT' }],
  ['a page of that name', { Host: 'evil.example:PORT', Origin: 'http://evil.example:PORT' }],
  ['a link of that page', { Host: 'evil.example:PORT', 'Sec-Fetch-Site': 'same-origin' }],
  ['a name like a loopback one', { Host: 'localhost.evil.example' }],
  ['a name that ends like one', { Host: 'evillocalhost' }],
  ['a name that begins like an address', { Host: '127.0.0.1.evil.example' }],
  ['a name with an address behind it', { Host: 'evil.example:127.0.0.1' }],
  ['the origin that is configured', { Host: 'shop.example' }],
])(
  'without a key %s that was made to lead here is answered 421, and told what to set',
  async (_who, headers) => {
    const real = JSON.parse(JSON.stringify(headers).replaceAll('PORT', String(open.port)));
    for (const line of EVERYTHING)
      expect(await ask(open, line, real), line).toEqual({ status: 421, code: 'FOREIGN_HOST' });
    expect(await ask(keyed, WRITE, { ...real, 'X-API-Key': 'first-key' })).toEqual(allowed);
  },
);

test('without a key a service is asked by loopback names, the names it is told, and the addresses that lead to it', () => {
  const all = [
    'localhost',
    'LOCALHOST:8087',
    'furze.localhost',
    'localhost.',
    '127.0.0.1',
    '127.8.9.1:1',
    '[::1]:8087',
  ];
  const near = new Hosts(['Furze.internal', 'fd00::7'], '127.0.0.1');
  for (const host of [...all, 'furze.internal:80', '[fd00::7]:8087'])
    expect(near.isOwn(host), host).toBe(true);
  for (const host of ['10.0.0.7', '[fd00::8]', 'internal', '', '127.0.0.1@evil', '[::1'])
    expect(near.isOwn(host), host).toBe(false);
  const far = new Hosts([], '0.0.0.0');
  for (const host of [...all, '10.0.0.7:8087', '[fd00::8]:1']) expect(far.isOwn(host), host).toBe(true);
  for (const host of ['furze.internal', '10.0.0.7.evil.example']) expect(far.isOwn(host), host).toBe(false);
  expect(new Hosts([], '127.0.0.1').isOwn('')).toBe(false);
  expect(new Hosts(['*'], '127.0.0.1').isOwn('evil.example')).toBe(true);
});

test('a preflight is answered and names what a client may send', async () => {
  const answer = await open.call('OPTIONS', '/api/user', undefined, { Origin: 'https://evil.example' });
  expect(answer.status).toBe(204);
  expect(answer.headers.get('access-control-allow-headers')).toContain('X-API-Version');
});

test('listening beyond the machine without a key is warned of at start, and only then', () => {
  const warning = /"level":"warn".*without a key/;
  expect(open.lines.filter((line) => warning.test(line))).toHaveLength(1);
  expect(keyed.lines.some((line) => warning.test(line))).toBe(false);
});

test('nothing sniffs types; pages run no script in their text', async () => {
  for (const path of ['/api/users', '/api/nope', '/apidocs/initializer.js', '/apidocs']) {
    expect((await open.call('GET', path)).headers.get('x-content-type-options')).toBe('nosniff');
  }
  for (const path of ['/apidocs', '/apidocs/errors']) {
    const { headers, text } = await open.call('GET', path);
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'; script-src 'self';/);
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(text).not.toMatch(/<script(?![^>]* src=)/);
    expect(text).not.toMatch(/\son\w+=/);
  }
});

test('what a caller sends forges no line of the log and no header', async () => {
  const { call, lines } = open;
  const before = lines.length;
  const forged = 'x\r\n{"level":"fatal","msg":"forged"}\r\nSet-Cookie: a=b';
  const paths = [`/api/user/${encodeURIComponent(forged)}`, `/api/latest?n=${encodeURIComponent(forged)}`];
  for (const path of paths) {
    const answer = await call('GET', path);
    expect([400, 404]).toContain(answer.status);
    expect(answer.headers.get('set-cookie')).toBeNull();
  }
  await call('POST', '/api/user', { UserId: forged });
  const sane = await call('GET', '/api/users', undefined, { 'X-Request-ID': 'a b"\tc' });
  expect(sane.headers.get('x-request-id')).not.toContain('a b');
  for (const line of lines.slice(before)) {
    expect(line.trimEnd()).not.toContain('\n');
    expect(JSON.parse(line)).not.toMatchObject({ level: 'fatal' });
  }
});

test('no key stands in a log line, a metric, an error or the API page', async () => {
  const secret = /first-key|second key|reader-key/;
  const answers = await Promise.all([
    keyed.call('GET', '/api/users', undefined, { 'X-API-Key': 'first-key-not' }),
    keyed.call('POST', '/api/user', '{"first-key', { 'X-API-Key': 'first-key' }),
    keyed.call('POST', '/api/user', { UserId: 'u' }, { 'X-API-Key': 'reader-key' }),
    keyed.call('GET', '/metrics', undefined, { 'X-API-Key': 'reader-key' }),
    keyed.call('GET', '/apidocs.json'),
  ]);
  for (const { text } of [answers[0]!, ...answers.slice(2)]) expect(text).not.toMatch(secret);
  expect(keyed.lines.join('')).not.toMatch(secret);
});
