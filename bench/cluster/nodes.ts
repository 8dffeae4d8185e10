import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, type Random } from '../../src/domain/random.ts';
import { getRequest, postRequest } from '../http/connection.ts';
import { sendAll } from '../http/load.ts';
import type { ServerProcess } from '../http/processes.ts';
import { itemIdOf, userIdOf, type WorldSize, worldRequests } from '../http/world.ts';
import { type Engines, spentOf, startNode } from './parts.ts';
import { serverCpuMs } from './server-time.ts';
import { openSlowWay } from './slow-way.ts';

const BATCH_RECORDS = 1000;
/** Connections a node that write single feedback, and that ask. */
const WRITING = 16;
const ASKING = 16;
/** Users that each node is asked for, one in so many; a prime, so each is another. */
const READ_USERS = 10_000;
const READ_STRIDE = 7919;
const WARMING_READS = 2000;
const SETTLED_MS = 300;
/** Processors of a host on paper. */
const CORES = 2;
/** Nodes that take requests, and workers beside them that take none and have a copy of everything. */
const LAYOUT = /^(\d+)(?:\+(\d+))?$/;

/** One row of the table; times are processor time of all nodes together, microseconds. */
interface Row {
  readonly batchesPerSecond: number;
  readonly usPerBatched: number;
  readonly usPerSingle: number;
  /** A read of a user whom the node has not been asked for before, and of one whom it has; as many a node, however many nodes. */
  readonly usPerLoadingRead: number;
  readonly usPerRead: number;
  /** Feedback a second in batches if each node had a host of its own: what `CORES` processors of each could do. */
  readonly ownHostsPerSecond: number;
  /** Processor time of PostgreSQL a feedback in batches, and a single one. */
  readonly postgresUsPerBatched: number;
  readonly postgresUsPerSingle: number;
  readonly postgresUsPerLoadingRead: number;
  readonly postgresUsPerRead: number;
}

/**
 * Prints what writes and strict reads cost all nodes together, for each layout: `4` nodes of the role, `4+1` with a worker beside them that
 * takes no requests. The others take them at the same time. The store is
 * filled before; feedback that is measured is new.
 */
export async function measureNodes(
  engines: Engines,
  folder: string,
  layouts: readonly string[],
  role: string,
  isSmoke: boolean,
  roundTripMs?: number,
): Promise<void> {
  const size = sizeOf(isSmoke);
  const rows: Record<string, Record<string, number>> = {};
  const way = roundTripMs === undefined ? undefined : await openSlowWay(engines.postgres.url, roundTripMs);
  if (way !== undefined) console.log(`a question there and back: ${way.roundTripMs.toFixed(1)} ms`);
  for (const [at, layout] of layouts.entries()) {
    const [, count, workers = 0] = LAYOUT.exec(layout)!;
    const name = `nodes${at}`;
    const stores = `data_store = "${(way ?? engines.postgres).url}?schema=${name}"\ncache_store = "${engines.redis.url}/2"`;
    const started = async (node: number, as: string) =>
      startNode(folder, `${name}-${node}-${as}`, as, stores, 0);
    const servers: ServerProcess[] = [];
    const idle: ServerProcess[] = [];
    for (let node = 0; node < Number(count); node++) servers.push(await started(node, role));
    for (let node = 0; node < Number(workers); node++) idle.push(await started(node, 'worker'));
    const nodes = idle.length > 0 ? `${count} × ${role}, ${workers} × worker` : `${count} × ${role}`;
    const figures = way
      ? await measureSlow(servers, idle, size, isSmoke)
      : await measure(engines, servers, idle, size, isSmoke);
    rows[nodes] = rounded({ ...figures });
    for (const server of [...servers, ...idle]) await server.stop();
  }
  console.table(rows);
  way?.stop();
}

/** Single feedback a second that all nodes store together, by how many connections each node has. */
async function measureSlow(
  servers: readonly ServerProcess[],
  idle: readonly ServerProcess[],
  size: WorldSize,
  isSmoke: boolean,
): Promise<Record<string, number>> {
  const all = [...servers, ...idle];
  const random = createRandom(Number.parseInt(randomBytes(4).toString('hex'), 16));
  await fill(servers, all, size);
  const rates: Record<string, number> = {};
  for (const connections of [1, 16, 128]) {
    const perNode = isSmoke ? 20 : Math.min(connections * 200, 8000);
    const began = performance.now();
    const sent = await onAll(servers, all, perNode, 1, connections, size, random);
    // The pause in which all come to show it is none of theirs.
    rates[`${connections} connections a node`] = (sent / (performance.now() - began - SETTLED_MS)) * 1000;
  }
  return rates;
}

async function measure(
  engines: Engines,
  servers: readonly ServerProcess[],
  idle: readonly ServerProcess[],
  size: WorldSize,
  isSmoke: boolean,
): Promise<Row> {
  const all = [...servers, ...idle];
  await fill(servers, all, size);
  // Before anything is written: users with as much feedback however many nodes there are.
  const requests = Array.from({ length: Math.min(READ_USERS, size.users) }, (_, at) =>
    getRequest(`/api/user/${userIdOf((at * READ_STRIDE) % size.users)}`),
  );
  const readAll = async () => {
    await Promise.all(servers.map(({ port }) => sendAll(port, requests, ASKING)));
    return requests.length * servers.length;
  };
  const unmeasured = Array.from({ length: WARMING_READS }, () => getRequest('/api/user/user-0'));
  await Promise.all(servers.map(({ port }) => sendAll(port, unmeasured, ASKING)));
  // A node knows nobody before it was asked for them.
  const loaded = await cost(engines, all, readAll);
  const known = await cost(engines, all, readAll);
  const random = createRandom(Number.parseInt(randomBytes(4).toString('hex'), 16));
  // Each node has as much to do however many there are, and has done some before: that its code is not compiled yet is no cost of a write.
  const batches = isSmoke ? 4 : 150;
  const singles = isSmoke ? 40 : 8000;
  await onAll(servers, all, batches, BATCH_RECORDS, 4, size, random);
  const batched = await cost(engines, all, () =>
    onAll(servers, all, batches, BATCH_RECORDS, 4, size, random),
  );
  await onAll(servers, all, singles, 1, WRITING, size, random);
  const single = await cost(engines, all, () => onAll(servers, all, singles, 1, WRITING, size, random));
  return {
    batchesPerSecond: batched.perSecond,
    usPerBatched: batched.nodesUs,
    usPerSingle: single.nodesUs,
    usPerLoadingRead: loaded.nodesUs,
    usPerRead: known.nodesUs,
    ownHostsPerSecond: (servers.length * CORES * 1e6) / batched.nodesUs,
    postgresUsPerBatched: batched.postgresUs,
    postgresUsPerSingle: single.postgresUs,
    postgresUsPerLoadingRead: loaded.postgresUs,
    postgresUsPerRead: known.postgresUs,
  };
}

/** Fills the store through all nodes, so that what is measured then is no node's first. */
async function fill(
  servers: readonly ServerProcess[],
  all: readonly ServerProcess[],
  size: WorldSize,
): Promise<void> {
  const [items, ...feedback] = [...worldRequests(size, BATCH_RECORDS, size.items)];
  // Those of whom no feedback comes, too: all of them are asked for.
  const ids = Array.from({ length: size.users }, (_, at) => ({ UserId: userIdOf(at) }));
  const users = Array.from({ length: Math.ceil(ids.length / BATCH_RECORDS) }, (_, at) =>
    postRequest('/api/users', ids.slice(at * BATCH_RECORDS, (at + 1) * BATCH_RECORDS)),
  );
  await sendAll(servers[0]!.port, [items!, ...users], 1);
  await Promise.all(
    servers.map(({ port }, at) =>
      sendAll(
        port,
        feedback.filter((_, i) => i % servers.length === at),
        4,
      ),
    ),
  );
  await settle(all);
}

function sizeOf(isSmoke: boolean): WorldSize {
  return isSmoke
    ? { users: 500, items: 300, feedback: 6000 }
    : { users: 20_000, items: 5000, feedback: 300_000 };
}

/** Posts `requests` of `records` new feedback each to each node, until all nodes show them. @returns feedback sent */
async function onAll(
  servers: readonly ServerProcess[],
  all: readonly ServerProcess[],
  requests: number,
  records: number,
  connections: number,
  size: WorldSize,
  random: Random,
): Promise<number> {
  await Promise.all(
    servers.map(({ port }) =>
      sendAll(
        port,
        Array.from({ length: requests }, () =>
          postRequest('/api/feedback', newFeedback(records, size, random)),
        ),
        connections,
      ),
    ),
  );
  await settle(all);
  return requests * servers.length * records;
}

/** Waits until each node has taken in what the others wrote: a strict read of each does. */
async function settle(servers: readonly ServerProcess[]): Promise<void> {
  await Promise.all(servers.map(({ port }) => sendAll(port, [getRequest('/api/user/user-0')], 1)));
  await sleep(SETTLED_MS);
}

function newFeedback(records: number, size: WorldSize, random: Random) {
  return Array.from({ length: records }, () => ({
    FeedbackType: 'like',
    UserId: userIdOf(random.below(size.users)),
    ItemId: itemIdOf(random.below(size.items)),
    Timestamp: '2024-05-06T07:08:09Z',
    Comment: '',
  }));
}

interface Cost {
  readonly perSecond: number;
  /** Processor time of all nodes and of PostgreSQL for each, microseconds. */
  readonly nodesUs: number;
  readonly postgresUs: number;
}

async function cost(
  { postgres }: Engines,
  servers: readonly ServerProcess[],
  work: () => Promise<number>,
): Promise<Cost> {
  const before = { nodesMs: spentOf(servers), postgresMs: serverCpuMs(postgres.processId) };
  const began = performance.now();
  const count = await work();
  return {
    perSecond: (count / (performance.now() - began)) * 1000,
    nodesUs: ((spentOf(servers) - before.nodesMs) / count) * 1000,
    postgresUs: ((serverCpuMs(postgres.processId) - before.postgresMs) / count) * 1000,
  };
}

function rounded(figures: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Math.round(value)]));
}
