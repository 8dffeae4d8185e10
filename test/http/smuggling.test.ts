import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import Type from 'typebox';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { jsonText } from '../../src/http/route/reply.ts';
import { route } from '../../src/http/route/route.ts';
import { engine, type RoutesServer, serveRoutes } from './serve-routes.ts';
import { HIDDEN, MALFORMED, NEXT, UNSURE } from './smuggling-shapes.ts';

const common = { tag: 't', summary: 's', response: { description: '' } } as const;
const body = { schema: Type.Any(), example: '' };
/** Paths of the requests that reached a handler. */
let heard: string[] = [];
const hear = (path: string) => () => {
  heard.push(path);
  return jsonText(`"${path}"`);
};
const hearLate = (path: string) => () => delay(5).then(hear(path));

const routes = [
  route({ ...common, method: 'GET', path: '/next', handler: hear('next') }),
  route({ ...common, method: 'GET', path: '/get', handler: hear('get') }),
  route({ ...common, method: 'GET', path: '/late', handler: hearLate('late') }),
  route({ ...common, method: 'POST', path: '/bodiless', handler: hear('bodiless') }),
  route({ ...common, method: 'POST', path: '/body', body, handler: hear('body') }),
  route({ ...common, method: 'POST', path: '/write', body, handler: hearLate('write') }),
  route({
    ...common,
    method: 'POST',
    path: '/parts',
    body,
    handler: () => ({ ...jsonText(''), parts: ['[', '1', ']'] }),
  }),
];

let server: RoutesServer;
beforeAll(async () => void (server = await serveRoutes(routes)));
afterAll(() => server.close());
beforeEach(() => {
  heard = [];
});

const HEX = NEXT.length.toString(16);
/** All that answer: at once, later, with a body or without, in parts, with an error. */
const TARGETS = [
  'GET /get',
  'HEAD /get',
  'OPTIONS /get',
  'GET /late',
  'GET /nowhere',
  'PUT /get',
  'POST /bodiless',
  'POST /body',
  'POST /write',
  'POST /parts',
];

/**
 * Sends parts one after the other and reads until the server closes.
 * @param hangsUp ends the sending side behind the last part, so that a server that waits for more closes, too
 * @param answers how many have to be there before it does
 */
async function talk(parts: readonly string[], hangsUp: boolean, answers = 0): Promise<string> {
  const socket = connect(server.port, '127.0.0.1').setEncoding('latin1').setNoDelay(true);
  let received = '';
  socket.on('data', (text: string) => (received += text));
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  for (const part of parts) {
    if (!socket.destroyed) socket.write(part, 'latin1');
    await delay(20);
  }
  while (!socket.destroyed && received.split('HTTP/1.1 ').length <= answers) await delay(5);
  if (hangsUp) socket.end();
  await closed;
  return received;
}

/** Sends a request to each target, in one piece and in several. @returns the answers */
function attack(headers: string, rest: string, targets = TARGETS) {
  const answers = targets.flatMap((target) => {
    const head = `${target} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;
    return [[head + rest], [head, rest], [head, rest, NEXT]].map((parts) => talk(parts, true));
  });
  return Promise.all(answers);
}

test.each(UNSURE)('%s: the connection is closed and nothing behind it is heard', async (_, headers, rest) => {
  for (const answer of await attack(headers, rest))
    if (answer.startsWith('HTTP/1.1 400')) expect(answer.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
  expect(heard).not.toContain('next');
});

test.each(HIDDEN)('%s: nothing behind what writes is heard', async (_, headers, rest) => {
  const targets = TARGETS.filter((target) => engine.name === 'node' || !target.startsWith('GET'));
  for (const answer of await attack(headers, rest, targets)) {
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
  }
  expect(heard).toEqual([]);
});

test.each(MALFORMED)('%s: neither it nor anything behind it is heard', async (_, headers, rest) => {
  for (const answer of await attack(headers, rest)) {
    expect(answer).not.toMatch(/^HTTP\/1\.1 [23]/);
    expect(answer.match(/HTTP\/1\.1 \d/g) ?? []).toHaveLength(answer === '' ? 0 : 1);
  }
  expect(heard).toEqual([]);
});

test('a request that does not tell where its body ends is a 400 that closes the connection', async () => {
  for (const target of ['GET /get', 'POST /body']) {
    const text = `${target} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: ${NEXT.length}\r\n\r\n${NEXT}`;
    const answer = await talk([text], false);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/\r\nConnection: close\r\n/);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    const [, head = '', json = ''] = /^(.*?)\r\n\r\n(.*)$/s.exec(answer) ?? [];
    expect(json).toHaveLength(Number(/Content-Length: (\d+)/i.exec(head)![1]));
    expect(JSON.parse(json)).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
  }
});

test('a chunked request is answered in full whatever it asks for, and by the native engine as the last of its connection', async () => {
  for (const target of TARGETS) {
    const request = `${target} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`;
    const answer = await talk(engine.name === 'uws' ? [request] : [request, NEXT], engine.name === 'node');
    expect(answer).toMatch(/^HTTP\/1\.1 [2-4]\d\d /);
    const closes = /\r\nConnection: close\r\n/i.test(answer);
    expect(closes).toBe(engine.name === 'uws');
    expect(heard.includes('next')).toBe(!closes);
    if (target === 'POST /parts' && closes) expect(answer).toContain(']\r\n0\r\nX-Furze-End: 1\r\n\r\n');
    heard = [];
  }
});

test('a body of a known length is passed over to its last byte', async () => {
  for (const target of TARGETS) {
    const text = `${target} HTTP/1.1\r\nHost: a\r\nContent-Length: ${NEXT.length}\r\n\r\n${NEXT}`;
    const answer = await talk([text, NEXT], true, 2);
    expect(heard.filter((path) => path === 'next')).toHaveLength(1);
    expect(answer.match(/HTTP\/1\.1 \d/g)).toHaveLength(2);
    heard = [];
  }
});

test('chunks are as long as their size says', async () => {
  const text = `POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${HEX}\r\n${NEXT}\r\n0\r\n\r\n`;
  expect(await talk([text], engine.name === 'node')).toMatch(/^HTTP\/1\.1 200 /);
  expect(heard).toEqual(['body']);
});
