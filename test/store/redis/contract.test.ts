import { describe, expect, inject, test } from 'vitest';
import { parseDsn, type RedisDsn } from '../../../src/store/dsn.ts';
import { RedisLists } from '../../../src/store/redis/redis-lists.ts';
import { newPostgresDsn, newRedisDsn } from '../../servers/dsn.ts';
import { cacheStoreContract, sharedListsContract } from '../contract/cache-store.ts';
import { sharedUnderTest } from './under-test.ts';

describe.skipIf(inject('redisUrl') === '')('over Redis', () => {
  cacheStoreContract(
    'Redis',
    sharedUnderTest(() => parseDsn(newRedisDsn())),
  );
  sharedListsContract('Redis', () => parseDsn(newRedisDsn()));

  test('many lists are counted by a sample of the keys, among those of others', async () => {
    const dsn = parseDsn(newRedisDsn()) as RedisDsn;
    const open = (tag: string) => new RedisLists(dsn, { dsn, tag, ttlMs: 3_600_000 });
    const [own, other] = [open('one'), open('two')];
    const put = (lists: RedisLists, count: number) =>
      lists.change(
        Array.from({ length: count }, (_, row) => [row, new Uint8Array(700)] as const),
        [],
      );
    await Promise.all([put(own, 9000), put(other, 3000)]);
    const { lists, bytes } = await own.getStats();
    expect(Math.abs(lists / 9000 - 1)).toBeLessThan(0.1);
    expect(bytes / lists).toBeGreaterThan(700);
    expect(bytes / lists).toBeLessThan(1000);
    await own.close();
    await other.close();
  });
});

describe.skipIf(inject('postgresUrl') === '')('over PostgreSQL', () => {
  cacheStoreContract(
    'PostgreSQL',
    sharedUnderTest(() => parseDsn(newPostgresDsn())),
  );
  sharedListsContract('PostgreSQL', () => parseDsn(newPostgresDsn()));
});
