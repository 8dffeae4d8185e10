import { join } from 'node:path';
import { createRandom } from '../../src/domain/random.ts';
import { Asker, getRequest, postRequest } from '../http/connection.ts';
import { startFlood, stopFlood } from '../http/freshness.ts';
import { toRequest } from '../http/insert.ts';
import { measureLoad, RequestRing, sendAll } from '../http/load.ts';
import type { ServerProcess } from '../http/processes.ts';
import { quantile } from '../http/statistics.ts';
import {
  feedbackBatches,
  itemBatches,
  likeOf,
  listRequests,
  userIdOf,
  type WorldSize,
} from '../http/world.ts';
import { type Engines, spentOf, startNode } from './parts.ts';
import { serverCpuMs } from './server-time.ts';

const WORLD: WorldSize = { users: 20_000, items: 5000, feedback: 300_000 };
const SMOKE: WorldSize = { users: 500, items: 300, feedback: 6000 };
const PRESSURE = { connections: 64, depth: 1 };
const BATCH_RECORDS = 1000;
const POSTING_CONNECTIONS = 4;

/** Processor time of each part, milliseconds. */
interface Spent {
  readonly servers: number;
  readonly postgres: number;
  readonly redis: number;
}

/**
 * Lists are of what is newest and popular: nothing is learned, which on a busy machine takes long and changes no hit.
 * What requests cost each part: to a node with a folder alone, to a server over the engines, and to two.
 */
export async function measureRequests(engines: Engines, folder: string, isSmoke: boolean): Promise<void> {
  const size = isSmoke ? SMOKE : WORLD;
  const durationMs = isSmoke ? 300 : 5000;
  const probes = isSmoke ? 10 : 300;
  const requests = listRequests(size, size.users, 4);
  const alone = await startNode(
    folder,
    'alone',
    'all',
    `data_store = "lmdb://${join(folder, 'alone', 'data')}"`,
    0,
  );
  await fill('a folder alone', engines, alone, size);
  await reads('hits of a folder alone, none kept in memory', engines, [alone], requests, durationMs);
  await alone.stop();

  const shared = `data_store = "${engines.postgres.url}?schema=requests"\ncache_store = "${engines.redis.url}/1"`;
  const worker = await startNode(folder, 'worker', 'worker', shared, 0);
  await fill('a server over the engines', engines, worker, size);
  const servers = [
    await startNode(folder, 's1', 'server', shared, 0),
    await startNode(folder, 's2', 'server', shared, 0),
  ];
  await worker.stop();
  await reads('strict hits out of Redis, one server', engines, servers.slice(0, 1), requests, durationMs);
  await reads('strict hits out of Redis, two servers', engines, servers, requests, durationMs);
  await freshness(servers as [ServerProcess, ServerProcess], size, probes);
  for (const server of servers) await server.stop();
  const keeping = await startNode(folder, 's1', 'server', shared, 64);
  await reads('strict hits kept in memory, one server', engines, [keeping], requests, durationMs);
  await keeping.stop();
}

/** Posts all items and feedback, and tells what the feedback took. */
async function fill(name: string, engines: Engines, server: ServerProcess, size: WorldSize): Promise<void> {
  for (const items of itemBatches(size, size.items))
    await sendAll(server.port, [postRequest('/api/items', items)], 1);
  const requests = [...feedbackBatches(size, BATCH_RECORDS)].map(toRequest);
  await row(`feedback posted to ${name}, in batches of ${BATCH_RECORDS}`, engines, [server], async () => {
    await sendAll(server.port, requests, POSTING_CONNECTIONS);
    return size.feedback;
  });
}

async function reads(
  name: string,
  engines: Engines,
  servers: readonly ServerProcess[],
  requests: readonly Buffer[],
  durationMs: number,
): Promise<void> {
  const ring = new RequestRing(requests);
  for (const { port } of servers) await sendAll(port, requests, PRESSURE.connections);
  for (const { port } of servers) await measureLoad(port, ring, PRESSURE, durationMs / 5);
  await row(name, engines, servers, async () => {
    const rates = await Promise.all(servers.map(({ port }) => measureLoad(port, ring, PRESSURE, durationMs)));
    return (rates.reduce((sum, rate) => sum + rate, 0) * durationMs) / 1000;
  });
}

async function row(
  name: string,
  { postgres, redis }: Engines,
  servers: readonly ServerProcess[],
  work: () => Promise<number>,
): Promise<void> {
  const now = (): Spent => ({
    servers: spentOf(servers),
    postgres: serverCpuMs(postgres.processId),
    redis: serverCpuMs(redis.processId),
  });
  const before = now();
  const began = performance.now();
  const count = await work();
  const seconds = (performance.now() - began) / 1000;
  const after = now();
  const perSecond = (part: keyof Spent) => {
    const spentMs = after[part] - before[part];
    return spentMs < 10 ? '-' : Math.round((count / spentMs) * 1000).toLocaleString('en');
  };
  console.log(
    `${name}: ${Math.round(count / seconds).toLocaleString('en')}/s; a processor second of furze ${perSecond('servers')}, of PostgreSQL ${perSecond('postgres')}, of Redis ${perSecond('redis')}`,
  );
}

/** Prints how long after a like that one server has answered the other one's list shows it. */
async function freshness(
  [one, other]: readonly [ServerProcess, ServerProcess],
  size: WorldSize,
  probes: number,
): Promise<void> {
  const tell = (what: string, latenciesMs: readonly number[]) =>
    console.log(
      `from a like that one server has answered to the other's list without that item, ${what}: p50 ${quantile(latenciesMs, 0.5).toFixed(1)} ms, p99 ${quantile(latenciesMs, 0.99).toFixed(1)} ms`,
    );
  tell('idle', await probe(one, other, size, probes));
  const flood = await startFlood(one.port, size);
  const busy = await probe(one, other, size, probes);
  const rate = await stopFlood(flood);
  tell(`while ${Math.round(rate)} feedback/s arrive`, busy);
}

/** Likes the first item of a user's list, and asks the other server until its list lacks it. @returns milliseconds, one a probe */
async function probe(
  one: ServerProcess,
  other: ServerProcess,
  size: WorldSize,
  probes: number,
): Promise<number[]> {
  const random = createRandom(7);
  const [writer, reader] = [await Asker.open(one.port), await Asker.open(other.port)];
  const latenciesMs: number[] = [];
  while (latenciesMs.length < probes) {
    const UserId = userIdOf(random.below(size.users));
    const list = getRequest(`/api/recommend/${UserId}?n=10`);
    const [ItemId] = await reader.askJson<[string]>(list);
    await writer.ask(postRequest('/api/feedback', [likeOf(UserId, ItemId)]));
    const began = performance.now();
    while ((await reader.askJson<string[]>(list)).includes(ItemId));
    latenciesMs.push(performance.now() - began);
  }
  writer.close();
  reader.close();
  return latenciesMs;
}
