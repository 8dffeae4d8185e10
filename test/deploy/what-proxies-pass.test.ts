import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type StartedProxy, startProxy } from '../../scripts/deploy/proxies.ts';
import { isInstalled } from '../../scripts/deploy/report.ts';
import { createRandom, type Random } from '../../src/domain/random.ts';
import { NEXT } from '../http/smuggling-shapes.ts';
import { tempFolder } from '../store/helpers.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Requests that are sent through each proxy, by HTTP/1.1 and by HTTP/2. */
const ROUNDS = Number(process.env.PROXY_ROUNDS ?? 200);
const SEED = Number(process.env.PROXY_SEED ?? 1);
const AT_ONCE = 16;
/** A connection that the proxy keeps open by then tells nothing more. */
const REST_MS = 400;

/** Each with HTTP/2 where its package speaks it by a word. */
const PROXIES: Readonly<Record<string, (text: string) => string>> = {
  nginx: (text) => text.replace('listen 443 ssl', 'listen 443 ssl http2'),
  haproxy: (text) => text,
  caddy: (text) => text,
};
/** Caddy is started without TLS, where it speaks HTTP/1.1 alone. */
const SPEAKS_HTTP_2 = new Set(['nginx', 'haproxy']);

const METHODS = ['GET', 'GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST', 'PUT'];
const NAMES = [
  ...['Content-Length', 'Content-Length', 'content-length', 'CONTENT-LENGTH', 'Transfer-Encoding'],
  ...['transfer-encoding', 'Content-Length ', ' Content-Length', 'Content-Length\t', 'Content_Length'],
  ...['Transfer-Encoding ', 'Transfer_Encoding', 'Host', 'host', '', ' ', 'X', 'Content-Length\0'],
];
const LENGTH = String(NEXT.length);
const VALUES = [
  ...['', '', ' ', '\t', ' \t ', LENGTH, LENGTH, LENGTH, ` ${LENGTH} `, `${LENGTH}, ${LENGTH}`, '0', '00'],
  ...[`0${LENGTH}`, `+${LENGTH}`, '-1', ',', `${LENGTH},`, `,${LENGTH}`, '0x5', '5 5', `"${LENGTH}"`, 'x'],
  ...[
    `\x0b${LENGTH}`,
    `\x80${LENGTH}`,
    `${LENGTH}\xa0`,
    '\x80',
    'chunked',
    'Chunked',
    ' chunked',
    'identity',
  ],
  ...['chunked, chunked', 'xchunked', 'chunked;x', ',chunked', '127.0.0.1', 'b'],
];
const LINE_ENDS = ['\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r\r\n', '\r'];

type Line = readonly [name: string, value: string];
interface Form {
  readonly method: string;
  readonly lines: readonly Line[];
  readonly lineEnd: string;
}

function randomForm(random: Random): Form {
  const any = <T>(from: readonly T[]) => from[random.below(from.length)]!;
  const lines = Array.from({ length: 1 + random.below(4) }, () => [any(NAMES), any(VALUES)] as const);
  // What is looked for: something that is no length before one that is.
  if (random.below(2) === 0) lines.push(['Content-Length', LENGTH]);
  return { method: any(METHODS), lines, lineEnd: any(LINE_ENDS) };
}

function asText({ method, lines, lineEnd }: Form): string {
  const headers = lines.map(([name, value]) => `${name}: ${value}${lineEnd}`).join('');
  return `${method} /get HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n${NEXT}`;
}

/** The same over HTTP/2 (RFC 9113; literals of RFC 7541, 6.2.2): what a proxy makes lines of. */
function asFrames({ method, lines }: Form): Buffer {
  const all: readonly Line[] = [
    [':method', method],
    [':scheme', 'https'],
    [':path', '/get'],
    [':authority', '127.0.0.1'],
    ...lines.map(([name, value]) => [name.toLowerCase(), value] as const),
  ];
  const block = Buffer.concat(
    all.flatMap(([name, value]) => [Buffer.from([0]), ...[name, value].map((text) => literal(text))]),
  );
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  const [isHeaders, isData, isSettings] = [1, 0, 4];
  const [endsHeaders, endsStream] = [4, 1];
  return Buffer.concat([
    preface,
    frame(isSettings, 0, 0, Buffer.alloc(0)),
    frame(isHeaders, endsHeaders, 1, block),
    frame(isData, endsStream, 1, Buffer.from(NEXT)),
  ]);
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

function frame(type: number, flags: number, stream: number, body: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

/** What of a head two readers could take for different ends, or for different hosts. */
function doubts(head: string): string[] {
  const [, ...lines] = head.split('\r\n');
  const found: string[] = [];
  const values = (wanted: string) =>
    lines.flatMap((line) => {
      const [, name, value] = /^([^:]*):[ \t]*(.*?)[ \t]*$/s.exec(line) ?? [];
      return name?.toLowerCase() === wanted ? [value!] : [];
    });
  for (const line of lines)
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+:/.test(line) || /[\r\n\0]/.test(line)) found.push(`line ${line}`);
  const lengths = values('content-length');
  const codings = values('transfer-encoding');
  if (lengths.length + codings.length > 1) found.push('several ends');
  for (const length of lengths) if (!/^\d+$/.test(length)) found.push(`length ${length}`);
  for (const coding of codings) if (coding !== 'chunked') found.push(`coding ${coding}`);
  if (values('host').length !== 1) found.push('hosts');
  return found;
}

/** Takes one request from each connection, and keeps its head. */
async function startRecorder() {
  const heads: string[] = [];
  const server = createServer((socket) => {
    let text = '';
    socket.on('error', () => {});
    socket.setEncoding('latin1').on('data', (part: string) => {
      const before = text.indexOf('\r\n\r\n');
      text += part;
      const end = text.indexOf('\r\n\r\n');
      if (before >= 0 || end < 0) return;
      heads.push(text.slice(0, end));
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { heads, server, port: (server.address() as AddressInfo).port };
}

async function send({ port, isTls }: StartedProxy, bytes: Buffer, protocol: string): Promise<string> {
  const at = { port, host: '127.0.0.1' };
  const socket: Socket = isTls
    ? connectTls({ ...at, rejectUnauthorized: false, ALPNProtocols: [protocol] })
    : connect(at);
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => (received += text));
  socket.on('error', () => {});
  const closed = once(socket, 'close').catch(() => {});
  socket.write(bytes);
  await Promise.race([closed, delay(REST_MS)]);
  socket.destroy();
  return received;
}

describe.each(Object.keys(PROXIES))('what %s hands on', (name) => {
  const isThere = isInstalled(name);
  if (!isThere) console.warn(`SKIPPED what ${name} hands on: ${name} is not installed`);
  let recorder: Awaited<ReturnType<typeof startRecorder>>;
  let proxy: StartedProxy;
  beforeAll(async () => {
    if (!isThere) return;
    recorder = await startRecorder();
    proxy = await startProxy(name, ROOT, join(tempFolder(), name), recorder.port, PROXIES[name]);
    const plain = Buffer.from('GET /get HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    await vi.waitFor(
      async () => expect(await send(proxy, plain, 'http/1.1'), proxy.output()).toMatch(/^HTTP\/1\.1 200/),
      300_000,
    );
  });
  afterAll(() => {
    proxy?.child.kill('SIGTERM');
    recorder?.server.close();
  });

  const protocols = SPEAKS_HTTP_2.has(name) ? ['http/1.1', 'h2'] : ['http/1.1'];
  test.skipIf(!isThere).each(protocols)(
    'by %s: no head leaves it in doubt where it ends',
    async (protocol) => {
      const bytesOf = (form: Form) =>
        protocol === 'h2' ? asFrames(form) : Buffer.from(asText(form), 'latin1');
      const random = createRandom(SEED);
      const good: Form = { method: 'GET', lines: [['Content-Length', LENGTH]], lineEnd: '\r\n' };
      const forms = [good, ...Array.from({ length: ROUNDS }, () => randomForm(random))];
      recorder.heads.length = 0;
      for (let from = 0; from < forms.length; from += AT_ONCE)
        await Promise.all(
          forms.slice(from, from + AT_ONCE).map((form) => send(proxy, bytesOf(form), protocol)),
        );
      const heads = recorder.heads.filter((head) => / \/(get|next) /.test(head));
      // Some go through, a GET with a length among them: the others were refused.
      expect(heads.filter((head) => /^GET \/get .*content-length: /is.test(head)).length).toBeGreaterThan(0);
      expect(heads.length).toBeGreaterThan(ROUNDS / 50);
      for (const head of heads) expect([doubts(head), head]).toEqual([[], head]);
    },
  );
});

test.each([
  ['Host: a\r\nContent-Length:\r\nContent-Length: 3', ['several ends', 'length ']],
  ['Host: a\r\nTransfer-Encoding: \r\nTransfer-Encoding: chunked', ['several ends', 'coding ']],
  ['Host: a\r\nHOST: b', ['hosts']],
  ['Host: a\r\n: x', ['line : x']],
  ['Host: a\r\ncontent-length: 3', []],
])('the head %j leaves in doubt: %j', (lines, found) => {
  expect(doubts(`GET / HTTP/1.1\r\n${lines}`)).toEqual(found);
});
