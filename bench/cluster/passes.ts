import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type PostgresDsn, parseDsn } from '../../src/store/dsn.ts';
import { Connection } from '../../src/store/postgres/connection.ts';
import { postRequest } from '../http/connection.ts';
import { sendAll } from '../http/load.ts';
import type { ServerProcess } from '../http/processes.ts';
import { type WorldSize, worldRequests } from '../http/world.ts';
import { type Engines, spentOf, startNode } from './parts.ts';
import { serverCpuMs } from './server-time.ts';

const LOOK_MS = 50;
const SETTLED_MS = 1000;
/** Passes before those that are measured, and those. */
const WARMING_PASSES = 3;
const PASSES = 3;
/** Learning to rank would take longer than all else. */
const UNRANKED = 'enable_click_through_prediction = false\n';

/**
 * Prints what a pass over all users' lists costs the processors of so many workers, which share it, and how evenly it is divided: some
 * passes of the same generation over an emptied cache, so that nothing is learned and all code is compiled.
 */
export async function measurePasses(
  engines: Engines,
  folder: string,
  counts: readonly string[],
  isSmoke: boolean,
): Promise<void> {
  const size: WorldSize = isSmoke
    ? { users: 3000, items: 300, feedback: 30_000 }
    : { users: 20_000, items: 5000, feedback: 150_000 };
  const rows: Record<string, Record<string, number | string>> = {};
  for (const count of counts) {
    const name = `passes${count}`;
    const redisUrl = `${engines.redis.url}/3`;
    const postgresUrl = `${engines.postgres.url}?schema=${name}`;
    const stores = `data_store = "${postgresUrl}"\ncache_store = "${redisUrl}"`;
    const workers: ServerProcess[] = [];
    for (let worker = 0; worker < Number(count); worker++)
      workers.push(await startNode(folder, `${name}-${worker}`, 'worker', stores, 0, UNRANKED));
    await sendAll(workers[0]!.port, [...worldRequests(size, 1000, 1000)], 4);
    const connection = await Connection.open(parseDsn(postgresUrl) as PostgresDsn, 'bench');
    await sendAll(workers[0]!.port, [postRequest('/api/admin/fit', {})], 1);
    await passOver(connection, name, 0);
    // In the first passes code is being compiled, at each node.
    for (let pass = 0; pass < WARMING_PASSES; pass++) await passAgain(connection, name, redisUrl);
    rows[`${count} workers`] = await measurePass(engines, workers, connection, name, redisUrl);
    await connection.close();
    for (const worker of workers) await worker.stop();
  }
  console.table(rows);
}

async function measurePass(
  { postgres }: Engines,
  workers: readonly ServerProcess[],
  connection: Connection,
  schema: string,
  redisUrl: string,
): Promise<Record<string, number | string>> {
  const spent = () => workers.map((worker) => spentOf([worker]));
  const before = { nodes: spent(), postgres: serverCpuMs(postgres.processId) };
  let [lists, seconds] = [0, 0];
  for (let pass = 0; pass < PASSES; pass++) {
    const made = await passAgain(connection, schema, redisUrl);
    lists += made.lists;
    seconds += made.seconds;
  }
  const of = spent().map((ms, at) => (ms - before.nodes[at]!) / 1000);
  return {
    lists,
    'seconds by the clock': Number(seconds.toFixed(1)),
    'CPU s of all workers': Number(of.reduce((sum, each) => sum + each, 0).toFixed(1)),
    'CPU s of each': of.map((each) => each.toFixed(1)).join(' '),
    'CPU s of PostgreSQL': Number(((serverCpuMs(postgres.processId) - before.postgres) / 1000).toFixed(1)),
  };
}

/** Has all lists made anew. */
async function passAgain(connection: Connection, schema: string, redisUrl: string) {
  // Until all have noted the end of the pass before.
  await sleep(SETTLED_MS);
  const redis = new Redis(redisUrl);
  await redis.flushdb();
  const began = performance.now();
  // As where the leader was lost before it began a pass: the next one begins it, and learns nothing.
  const [row] = await connection.rows<[number]>(
    `UPDATE ${schema}.generation SET pass_generation = 0, epoch = epoch + 1, leader = '' RETURNING pass`,
  );
  await passOver(connection, schema, row![0]);
  const seconds = (performance.now() - began) / 1000;
  const lists = await redis.dbsize();
  redis.disconnect();
  return { lists, seconds };
}

/** Resolves when a pass after this one is over. */
async function passOver(connection: Connection, schema: string, pass: number): Promise<void> {
  for (;;) {
    const [row] = await connection.rows<[boolean]>(
      `SELECT pass > $1 AND pass_generation > 0 AND pass_done = pass_users FROM ${schema}.generation`,
      [pass],
    );
    if (row![0]) return;
    await sleep(LOOK_MS);
  }
}
