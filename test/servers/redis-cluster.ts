import { Redis } from 'ioredis';
import { freePort } from './free-port.ts';
import { startRedis, type TestRedis } from './redis.ts';

/** A cluster of three Redis or Valkey servers that runs for tests alone. */
export interface TestRedisCluster {
  /** Names two of the three. */
  readonly url: string;
  readonly servers: readonly TestRedis[];
  stop(): Promise<void>;
}

const SERVERS = 3;
const SLOTS = 16_384;
const READY_MS_MAX = 600_000;

/** Starts three servers on loopback, each with a third of the slots; undefined where there is none. */
export async function startRedisCluster(): Promise<TestRedisCluster | undefined> {
  const settings = ['--databases', '1', '--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'];
  const busPorts = await Promise.all(Array.from({ length: SERVERS }, freePort));
  const started = await Promise.all(
    busPorts.map((port) => startRedis([...settings, '--cluster-port', String(port)])),
  );
  const servers = started.filter((server) => server !== undefined);
  if (servers.length < SERVERS) return undefined;
  const clients = servers.map(({ port }) => new Redis({ host: '127.0.0.1', port }));
  const share = Math.ceil(SLOTS / SERVERS);
  for (const [at, client] of clients.entries()) {
    await client.call('CLUSTER', 'ADDSLOTSRANGE', at * share, Math.min(SLOTS, (at + 1) * share) - 1);
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', at + 1);
  }
  for (const [at, { port }] of servers.entries())
    if (at > 0) await clients[0]!.call('CLUSTER', 'MEET', '127.0.0.1', port, busPorts[at]!);
  const began = performance.now();
  while (!(await Promise.all(clients.map(isWhole))).every(Boolean)) {
    if (performance.now() - began > READY_MS_MAX) throw new Error('the servers of Redis make no cluster');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  for (const client of clients) client.disconnect();
  return {
    url: `redis+cluster://${servers
      .slice(0, 2)
      .map(({ port }) => `127.0.0.1:${port}`)
      .join()}`,
    servers,
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

async function isWhole(client: Redis): Promise<boolean> {
  const info = await client.cluster('INFO');
  return /cluster_state:ok/.test(info) && info.includes(`cluster_known_nodes:${SERVERS}`);
}
