import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster, Redis, RedisOptions } from 'ioredis';
import type { RedisDsn } from '../dsn.ts';

/** Time in which a server must take a connection, milliseconds. */
const CONNECT_MS_MAX = 2000;
/** Time in which it must answer a command; one that takes connections and never answers is given up after that. */
const ANSWER_MS_MAX = 5000;
const RETRY_MS_MAX = 1000;

export type RedisClient = Redis | Cluster;
/** One server, of a cluster or alone. */
export type RedisServer = Redis;

/**
 * A client that connects by itself, and again when it lost its server. What is asked of it meanwhile fails at once.
 * @param onError told of each failure
 * @throws Error when the file of `sslrootcert` cannot be read
 */
export async function openRedis(dsn: RedisDsn, onError: (error: Error) => void): Promise<RedisClient> {
  // Loaded here, so that a service without Redis loads no client.
  const { Cluster, Redis } = await import('ioredis');
  const options = optionsOf(dsn);
  const client = dsn.isCluster
    ? new Cluster([...dsn.nodes], {
        redisOptions: options,
        lazyConnect: true,
        enableOfflineQueue: false,
        enableAutoPipelining: true,
        clusterRetryStrategy: pauseBefore,
        slotsRefreshTimeout: CONNECT_MS_MAX,
      })
    : new Redis({ ...options, ...dsn.nodes[0]! });
  client.on('error', onError);
  // Why it cannot connect it tells by events alone; this promise says that it is closed.
  await Promise.race([client.connect().catch(() => {}), delay(CONNECT_MS_MAX, undefined, { ref: false })]);
  return client;
}

function optionsOf({ username, password, database, tls }: RedisDsn): RedisOptions {
  return {
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    db: database,
    ...(tls !== undefined && { tls: tls.rootCert === undefined ? {} : { ca: readFileSync(tls.rootCert) } }),
    connectionName: 'furze',
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_MS_MAX,
    commandTimeout: ANSWER_MS_MAX,
    retryStrategy: pauseBefore,
  };
}

function pauseBefore(attempt: number): number {
  return Math.min(RETRY_MS_MAX, 50 * attempt);
}
