import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { EngineName } from '../../src/http/engine/engine.ts';
import { getRequest, postRequest } from './connection.ts';
import { measureLatencies, type Pressure, sendAll } from './load.ts';
import { engines, type ServerProcess, startService, withFolder } from './processes.ts';
import { quantile, type Row, ratioRow } from './statistics.ts';

/** Items whose comments make long pages: more than a page may hold. */
const ITEMS = 6000;
const COMMENT_BYTES = 1000;
const BATCH_ITEMS = 500;
/** Stay of each crowd, milliseconds, and the number of requests to the service meanwhile. */
const CROWD_MS = 12_000;
const SMOKE_MS = 500;
const PAUSE_MS = 5;
/** Connections that are opened at once. */
const OPENING = 200;
const LONG_PAGE = getRequest(`/api/items?n=${ITEMS}`);
const POINT_READ = getRequest('/api/item/item-1');

/** Clients that take more than they give. */
interface Crowd {
  readonly name: string;
  readonly connections: number;
  /** Bytes that each sends when it is connected; none of them reads. */
  send(socket: Socket): void;
}

const CROWDS: readonly Crowd[] = [
  { name: 'connections that send nothing', connections: 10_000, send: () => {} },
  {
    name: 'readers of 4 MiB pages that do not read',
    connections: 1000,
    send: (socket) => socket.write(LONG_PAGE),
  },
  {
    name: 'bodies of 60 MB that stop after a byte',
    connections: 1000,
    send: (socket) =>
      socket.write('POST /api/feedback HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000000\r\n\r\n['),
  },
  {
    name: 'connections that send requests and read nothing',
    connections: 100,
    send: (socket) => askOnAndOn(socket),
  },
  {
    name: 'callers that hang up behind their request',
    connections: 1000,
    send: (socket) => socket.write(LONG_PAGE, () => socket.destroySoon()),
  },
];

/** Connections that send so many requests at once and wait for all their answers; 1,024 of 16 is how TechEmpower asks. */
const PIPELINES = [
  [256, 16],
  [1024, 16],
  [4, 1000],
] as const;
const PIPELINED = '/api/latest?n=10';
const PIPELINING_CLIENT = fileURLToPath(new URL('./pipelining-client.ts', import.meta.url));

function askOnAndOn(socket: Socket): void {
  const requests = Buffer.concat(Array.from({ length: 500 }, () => POINT_READ));
  const more = () => {
    while (!socket.destroyed && socket.write(requests));
  };
  socket.on('drain', more);
  more();
}

/**
 * Effect of harmful crowds on the service's memory and its other callers, over each engine that loads.
 * @param only part of the names of the crowds to face, such as `at once`
 */
export async function benchOverload(scale: number, only = ''): Promise<Row[]> {
  const rows: Row[] = [];
  for (const engine of engines())
    await withFolder(async (folder) => {
      const service = await startService(folder, [], { engine });
      await fill(service.port);
      const idleMs = await probe(service.port, scale < 1 ? SMOKE_MS : 2000);
      for (const crowd of CROWDS.filter(({ name }) => name.includes(only)))
        rows.push(...(await face(service, engine, crowd, idleMs, scale)));
      for (const [connections, depth] of 'requests at once'.includes(only) ? PIPELINES : [])
        rows.push(...(await besidePipelining(service, engine, { connections, depth }, idleMs, scale)));
      await service.stop();
    });
  return rows;
}

async function fill(port: number): Promise<void> {
  const Comment = 'c'.repeat(COMMENT_BYTES);
  const requests = Array.from({ length: ITEMS / BATCH_ITEMS }, (_, batch) => {
    const idOf = (at: number) => `item-${batch * BATCH_ITEMS + at}`;
    return postRequest(
      '/api/items',
      Array.from({ length: BATCH_ITEMS }, (_, at) => ({ ItemId: idOf(at), Comment })),
    );
  });
  await sendAll(port, requests, 1);
}

async function face(
  service: ServerProcess,
  engine: EngineName,
  { name, connections, send }: Crowd,
  idleMs: readonly number[],
  scale: number,
): Promise<Row[]> {
  const beforeMib = await residentMib(service.pid);
  const crowd = await gather(service.port, Math.ceil(connections * scale), send);
  let peakMib = 0;
  const watch = setInterval(async () => {
    peakMib = Math.max(peakMib, await residentMib(service.pid));
  }, 100);
  const busyMs = await probe(service.port, scale < 1 ? SMOKE_MS : CROWD_MS);
  clearInterval(watch);
  for (const socket of crowd) socket.destroy();
  await delay(scale < 1 ? 100 : 1000);
  const bench = `${crowd.length} ${name}, over ${engine}`;
  const [busy, idle] = [quantile(busyMs, 0.99), quantile(idleMs, 0.99)];
  return [
    ratioRow(bench, 'MiB resident at most', peakMib, 'the same before', beforeMib, '+ 1 GiB at most'),
    ratioRow(bench, 'ms, p99 of a point read meanwhile', busy, 'the same when idle', idle),
  ];
}

/** What others wait for beside clients that send requests on and on, and whether those are answered, in order. */
async function besidePipelining(
  service: ServerProcess,
  engine: EngineName,
  { connections, depth }: Pressure,
  idleMs: readonly number[],
  scale: number,
): Promise<Row[]> {
  const count = Math.ceil(connections * scale);
  const given = [...[service.port, count, depth].map(String), PIPELINED];
  const client = fork(PIPELINING_CLIENT, given, { execArgv: ['--import', 'tsx'] });
  await once(client, 'message');
  client.send('go');
  const beganMs = Date.now();
  const busyMs = await probe(service.port, scale < 1 ? SMOKE_MS : CROWD_MS);
  const tookMs = Date.now() - beganMs;
  client.send('stop');
  const [told] = await once(client, 'message');
  const bench = `${count} connections that send ${depth} requests at once, over ${engine}`;
  const underWayMs = (tookMs * count * depth) / told.answered;
  const p99 = quantile(busyMs, 0.99);
  return [
    ratioRow(bench, 'answered in order', told.answered, 'sent', told.sent, '1'),
    ratioRow(bench, 'connections closed without a word', told.closed, 'opened', count, '0'),
    ratioRow(bench, 'closed behind an answer that says so', told.reopened, 'opened', count),
    ratioRow(bench, 'ms, p99 of a point read meanwhile', p99, 'the same when idle', quantile(idleMs, 0.99)),
    ratioRow(bench, 'ms, p99 of a point read meanwhile', p99, 'answering all that is under way', underWayMs),
    ratioRow(bench, 'ms, p99 of a point read meanwhile', p99, 'the aim', 100, '<= 1'),
  ];
}

async function gather(port: number, count: number, send: (socket: Socket) => void): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const some = Array.from({ length: Math.min(OPENING, count - sockets.length) }, async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      socket.pause();
      await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
      send(socket);
      return socket;
    });
    sockets.push(...(await Promise.all(some)));
  }
  return sockets;
}

async function probe(port: number, durationMs: number): Promise<number[]> {
  const endMs = Date.now() + durationMs;
  return measureLatencies(port, [POINT_READ], PAUSE_MS, () => Date.now() < endMs);
}

/** Resident memory of a process, NaN where the system does not tell. */
async function residentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s*(\d+) kB/.exec(status)?.[1]) / 1024;
}
