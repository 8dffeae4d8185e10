import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { hideUserInfo, withoutUserInfo } from '../../src/config/without-user-info.ts';
import { ServiceClient } from '../../src/exchange/service-client.ts';

afterEach(() => vi.restoreAllMocks());

/** A text that stands nowhere else in a message. */
const SECRET = 'wq7Zk';
const part = fc.string({ unit: 'grapheme', maxLength: 6 }).map((text) => `${text}${SECRET}`);
const encoded = part.map((text) => encodeURIComponent(text.toWellFormed()));
const secret = fc.oneof(part, encoded);
const scheme = fc.constantFrom('http', 'https', 'postgres', 'redis', 'rediss+cluster', 'ftp', 'HTTP');
const place = fc.constantFrom('host', 'host:80/path', '[::1]:1', 'a:1,b:2', 'db/shop?sslmode=require', '');

test('no URL in a message has user information, whatever signs it is of', () => {
  fc.assert(
    fc.property(scheme, secret, secret, place, (name, user, password, host) => {
      for (const url of [`${name}://${user}:${password}@${host}`, `${name}://${password}@${host}`]) {
        expect(withoutUserInfo(url)).toBe(`${name}://${host}`);
        const message = `argument ${JSON.stringify(url)} or '${url}' of --url=${url}`;
        expect(hideUserInfo(message, ['export', `--url=${url}`])).not.toContain(SECRET);
        expect(hideUserInfo(message, ['--url', url])).not.toContain(SECRET);
      }
      const query = `${name}://db/shop?user=me&password=${password.replace(/[&@]/g, '')}`;
      expect(withoutUserInfo(query)).not.toContain(SECRET);
    }),
    { numRuns: 2000 },
  );
});

test.each(['lmdb:///data/@home', './a@b', 'http://host/a', 'postgres://db/shop', 'C:\\a@b'])(
  '%s has no user information and is shown as it is',
  (url) => expect(withoutUserInfo(url)).toBe(url),
);

/** All that commands write, with a command of each way to take a URL. */
test.each([
  ['export', 'users', '--url', 'http://me:PW@127.0.0.1:1'],
  ['export', 'users', '--url=http://me:P%57PW@127.0.0.1:1'],
  ['export', 'users', '--url', 'ftp://me:PW@127.0.0.1:1'],
  ['export', 'users', '--url', 'http://me:1#PW@127.0.0.1:1'],
  ['status', '--url', 'http://me:PW@127.0.0.1:1', '--timeout', '5'],
  ['backup', '-', '--url', 'http://me:PW@127.0.0.1:1'],
  ['compact', '--url', 'http://me:PW@127.0.0.1:1'],
  ['import', 'feedback', 'package.json', '--url', 'http://me:PW@127.0.0.1:1'],
  ['import', 'http://me:PW@127.0.0.1:1/file.csv'],
  ['import', '--from-gorse', 'postgres://me:PW@127.0.0.1:1/gorse', '--url', 'http://127.0.0.1:1'],
  ['import', '--from-gorse', 'mysql://me:PW@127.0.0.1:1/gorse', '--url', 'http://127.0.0.1:1'],
  ['migrate', '--from', 'postgres://me:PW@127.0.0.1:1/a', '--to', 'postgres://me:PW@127.0.0.1:1/a'],
  ['migrate', '--from', 'postgres://me:P/PW@127.0.0.1:1/a', '--to', 'lmdb://./nowhere'],
  ['http://me:PW@127.0.0.1:1'],
  ['status', '--http://me:PW@127.0.0.1:1'],
  ['check', 'http://me:PW@127.0.0.1:1'],
  ['model', 'list', '--http://me:PW@127.0.0.1:1'],
])('nothing is said of the password: furze %s %s %s %s', async (...args) => {
  let output = '';
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      output += String(text);
      return true;
    });
  const code = await runProgram(args, { FURZE_DATABASE_DATA_STORE: 'postgres://me:PW@127.0.0.1:1/a' });
  expect(code).toBeGreaterThan(0);
  expect(output).not.toMatch(/PW/);
  expect(output).not.toBe('');
  expect(output).not.toMatch(/^ {4}at /m);
});

test('the user information of a URL is sent to the proxy that asks for it', async () => {
  const server = createServer((request, response) => response.end(request.headers.authorization ?? 'none'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const answer = async (url: string) => (await new ServiceClient(url, '').ask('GET', '/')).text();
    expect(await answer(`http://${host}`)).toBe('none');
    expect(await answer(`http://me:a%3Ab@${host}`)).toBe(`Basic ${btoa('me:a:b')}`);
  } finally {
    server.close();
  }
});
