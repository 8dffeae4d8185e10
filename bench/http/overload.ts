import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { EngineName } from '../../src/http/engine/engine.ts';
import { getRequest, postRequest } from './connection.ts';
import { measureLatencies, sendAll } from './load.ts';
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

function askOnAndOn(socket: Socket): void {
  const requests = Buffer.concat(Array.from({ length: 500 }, () => POINT_READ));
  const more = () => {
    while (!socket.destroyed && socket.write(requests));
  };
  socket.on('drain', more);
  more();
}

/** Effect of harmful crowds on the service's memory and its other callers, over each engine that loads. */
export async function benchOverload(scale: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const engine of engines())
    await withFolder(async (folder) => {
      const service = await startService(folder, [], { engine });
      await fill(service.port);
      const idleMs = await probe(service.port, scale < 1 ? SMOKE_MS : 2000);
      for (const crowd of CROWDS) rows.push(...(await face(service, engine, crowd, idleMs, scale)));
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
