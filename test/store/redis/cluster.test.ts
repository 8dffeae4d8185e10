import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { parseDsn, type RedisDsn } from '../../../src/store/dsn.ts';
import { RedisLists } from '../../../src/store/redis/redis-lists.ts';
import { startRedisCluster, type TestRedisCluster } from '../../servers/redis-cluster.ts';
import { cacheStoreContract, sharedListsContract } from '../contract/cache-store.ts';
import { sharedUnderTest } from './under-test.ts';

describe.skipIf(inject('redisUrl') === '')('over a cluster of Redis', () => {
  let cluster: TestRedisCluster;

  const onEach = async <T>(work: (client: Redis) => Promise<T>): Promise<T[]> => {
    const clients = cluster.servers.map(({ port }) => new Redis({ host: '127.0.0.1', port }));
    const results = await Promise.all(clients.map(work));
    for (const client of clients) client.disconnect();
    return results;
  };

  beforeAll(async () => {
    cluster = (await startRedisCluster())!;
  });
  beforeEach(async () => {
    await onEach((client) => client.flushall());
  });
  afterAll(() => cluster?.stop());

  // A cluster has one database, so each test empties it.
  const dsn = () => parseDsn(cluster.url) as RedisDsn;
  cacheStoreContract('a cluster of Redis', sharedUnderTest(dsn));
  sharedListsContract('a cluster of Redis', dsn);

  test('lists lie on all servers; without one of them those of the others are found again', async () => {
    const open = () => new RedisLists(dsn(), { dsn: dsn(), tag: 'one', ttlMs: 3_600_000 });
    const lists = open();
    const rows = Array.from({ length: 300 }, (_, row) => row);
    await lists.change(
      rows.map((row) => [row, Uint8Array.of(row % 256)] as const),
      [],
    );
    const sizes = await onEach((client) => client.dbsize());
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(300);
    expect(Math.min(...sizes)).toBeGreaterThan(50);
    expect((await lists.getStats()).lists).toBe(300);
    await onEach((client) => client.config('SET', 'cluster-require-full-coverage', 'no'));
    await cluster.servers[2]!.pause();
    const found = async (of: RedisLists) => {
      const each = await Promise.allSettled(rows.map((row) => of.get([row])));
      return each.filter((one) => one.status === 'fulfilled' && one.value[0] !== undefined).length;
    };
    await expect.poll(() => found(lists)).toBe(sizes[0]! + sizes[1]!);
    const fresh = open();
    await expect.poll(() => found(fresh)).toBe(sizes[0]! + sizes[1]!);
    await lists.close();
    await fresh.close();
  });
});
