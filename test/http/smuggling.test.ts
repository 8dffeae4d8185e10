import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import Type from 'typebox';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { jsonText } from '../../src/http/route/reply.ts';
import { route } from '../../src/http/route/route.ts';
import { engine, type RoutesServer, serveRoutes } from './serve-routes.ts';

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

const NEXT = 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n';
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
 */
async function talk(parts: readonly string[], hangsUp: boolean): Promise<string> {
  const socket = connect(server.port, '127.0.0.1').setEncoding('latin1').setNoDelay(true);
  let received = '';
  socket.on('data', (text: string) => (received += text));
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  for (const part of parts) {
    if (!socket.destroyed) socket.write(part, 'latin1');
    await delay(20);
  }
  if (hangsUp) socket.end();
  await closed;
  return received;
}

/** Heads that two readers of a request could read differently, each with what follows it. */
const UNSURE: readonly (readonly [name: string, headers: string, rest: string])[] = [
  ['CL.CL 0 first', `Content-Length: 0\r\nContent-Length: ${NEXT.length}\r\n`, NEXT],
  ['CL.CL 0 last', `Content-Length: ${NEXT.length}\r\nContent-Length: 0\r\n`, NEXT + NEXT],
  ['CL.CL equal', 'Content-Length: 3\r\nContent-Length: 3\r\n', `abc${NEXT}`],
  ['CL in a list', 'Content-Length: 3, 3\r\n', `abc${NEXT}`],
  ['CL signed', 'Content-Length: +3\r\n', `abc${NEXT}`],
  ['CL negative', 'Content-Length: -1\r\n', NEXT],
  ['CL hexadecimal', 'Content-Length: 0x3\r\n', `abc${NEXT}`],
  ['CL with a blank', 'Content-Length: 1 0\r\n', NEXT],
  ['CL of 2^64 + 3', 'Content-Length: 18446744073709551619\r\n', `abc${NEXT}`],
  ['CL.TE', 'Content-Length: 6\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${NEXT}`],
  ['TE.CL', 'Transfer-Encoding: chunked\r\nContent-Length: 6\r\n', `0\r\n\r\n${NEXT}`],
  [
    'TE.TE chunked first',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n',
    `0\r\n\r\n${NEXT}`,
  ],
  ['TE.TE chunked last', 'Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${NEXT}`],
  ['TE xchunked', 'Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${NEXT}`],
  ['TE identity', 'Transfer-Encoding: identity\r\n', `0\r\n\r\n${NEXT}`],
  ['TE chunked, identity', 'Transfer-Encoding: chunked, identity\r\n', `0\r\n\r\n${NEXT}`],
  ['TE quoted', 'Transfer-Encoding: "chunked"\r\n', `0\r\n\r\n${NEXT}`],
  ['chunk size not hexadecimal', 'Transfer-Encoding: chunked\r\n', `zz\r\n${NEXT}`],
  ['chunk size with a sign', 'Transfer-Encoding: chunked\r\n', `+3\r\nabc\r\n0\r\n\r\n${NEXT}`],
  ['chunk size with 0x', 'Transfer-Encoding: chunked\r\n', `0x3\r\nabc\r\n0\r\n\r\n${NEXT}`],
  [
    'chunk size of 2^64 + 3',
    'Transfer-Encoding: chunked\r\n',
    `10000000000000003\r\nabc\r\n0\r\n\r\n${NEXT}`,
  ],
  ['chunk size of 2^32 + 3', 'Transfer-Encoding: chunked\r\n', `100000003\r\nabc\r\n0\r\n\r\n${NEXT}`],
  ['no chunk size', 'Transfer-Encoding: chunked\r\n', `\r\n\r\n${NEXT}`],
  ['chunk with another end', 'Transfer-Encoding: chunked\r\n', `3\r\nabcXX0\r\n\r\n${NEXT}`],
  ['last chunk with another end', 'Transfer-Encoding: chunked\r\n', `0\r\nXX${NEXT}`],
  ['bare LF in chunks', 'Transfer-Encoding: chunked\r\n', `3\nabc\n0\n\n${NEXT}`],
];

/** Heads that are no HTTP: nothing is answered to them but an error, and nothing that follows is heard. */
const MALFORMED: readonly (readonly [name: string, headers: string, rest: string])[] = [
  ['blank before the colon of CL', 'Content-Length : 3\r\n', `abc${NEXT}`],
  ['blank before the colon of TE', 'Transfer-Encoding : chunked\r\n', `0\r\n\r\n${NEXT}`],
  ['tab before the colon', 'Transfer-Encoding\t: chunked\r\n', `0\r\n\r\n${NEXT}`],
  ['blank before the name', ' Content-Length: 3\r\n', `abc${NEXT}`],
  ['folded line', 'X: a\r\n Transfer-Encoding: chunked\r\n', `0\r\n\r\n${NEXT}`],
  ['folded TE', 'Transfer-Encoding:\r\n chunked\r\n', `0\r\n\r\n${NEXT}`],
  ['folded CL', 'Content-Length:\r\n 3\r\n', `abc${NEXT}`],
  ['bare LF', 'X: a\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${NEXT}`],
  ['bare CR', 'X: a\rTransfer-Encoding: chunked\r\n', `0\r\n\r\n${NEXT}`],
  ['CR CR LF', 'X: a\r\r\nContent-Length: 3\r\n', `abc${NEXT}`],
  ['NUL', 'X: a\0b\r\n', NEXT],
  ['TE behind a vertical tab', 'Transfer-Encoding: \x0bchunked\r\n', `0\r\n\r\n${NEXT}`],
  ['no colon', 'Content-Length 3\r\n', `abc${NEXT}`],
];

/** Sends a request to each target, in one piece and in several. @returns the answers */
function attack(headers: string, rest: string) {
  const answers = TARGETS.flatMap((target) => {
    const head = `${target} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;
    return [[head + rest], [head, rest], [head, rest, NEXT]].map((parts) => talk(parts, true));
  });
  return Promise.all(answers);
}

test.each(UNSURE)('%s: the connection is closed and nothing behind it is heard', async (_, headers, rest) => {
  await attack(headers, rest);
  expect(heard).not.toContain('next');
});

test.each(MALFORMED)('%s: neither it nor anything behind it is heard', async (_, headers, rest) => {
  for (const answer of await attack(headers, rest)) expect(answer).not.toMatch(/^HTTP\/1\.1 [23]/);
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
    const answer = await talk([text, NEXT], true);
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
