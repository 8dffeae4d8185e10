import { describe, expect, inject, test } from 'vitest';
import { postgresBytes, redisBytes } from '../../bench/cluster/sizes.ts';
import { createRandom } from '../../src/domain/random.ts';
import { type PostgresDsn, parseDsn, type RedisDsn } from '../../src/store/dsn.ts';
import { packList } from '../../src/store/packed-list.ts';
import { Connection } from '../../src/store/postgres/connection.ts';
import { openSchema } from '../../src/store/postgres/schema.ts';
import { RedisLists } from '../../src/store/redis/redis-lists.ts';
import { newPostgresDsn, newRedisDsn } from './dsn.ts';

describe.skipIf(inject('postgresUrl') === '')('a small PostgreSQL', () => {
  test('takes as many bytes as its records are said to', async () => {
    const dsn = parseDsn(newPostgresDsn()) as PostgresDsn;
    const [users, items, feedback] = [5000, 1000, 60_000];
    const connection = await Connection.open(dsn, 'test');
    await openSchema(connection, dsn.schema);
    const s = `"${dsn.schema}"`;
    const detail = '{"Labels":[],"Subscribe":[],"Comment":""}';
    for (const [kind, count] of [
      ['user', users],
      ['item', items],
    ] as const)
      await connection.run(
        `INSERT INTO ${s}.${kind}s SELECT n, '${kind}-' || n, '${detail}' FROM generate_series(0, ${count - 1}) n`,
      );
    await connection.run(
      `INSERT INTO ${s}.feedback (type_time, user_row, item_row)
       SELECT 2 ^ 51 + 1.7e12, (n * 7919::int8) % ${users}, (n * 104729::int8 / ${users}) % ${items} FROM generate_series(1, ${feedback}) n`,
    );
    const [[bytes, stored]] = (await connection.rows<[number, number]>(
      `SELECT sum(pg_total_relation_size(oid))::int8, (SELECT count(*) FROM ${s}.feedback) FROM pg_class
       WHERE relnamespace = '${s}'::regnamespace AND relkind = 'r' AND relname <> 'changes'`,
    )) as [[number, number]];
    await connection.close();
    expect(stored).toBeGreaterThan(feedback / 2);
    expect(Math.abs(postgresBytes({ users, items, feedback: stored }) / bytes - 1)).toBeLessThan(0.25);
  });
});

describe.skipIf(inject('redisUrl') === '')('a small Redis', () => {
  test('takes as many bytes as its records are said to', async () => {
    const dsn = parseDsn(newRedisDsn()) as RedisDsn;
    const lists = new RedisLists(dsn, { dsn, tag: 'AbCdEfGh', ttlMs: 3_600_000 });
    const random = createRandom(3);
    const count = 1000;
    await lists.change(
      Array.from({ length: count }, (_, userRow) => {
        const itemRows = Uint32Array.from({ length: 100 }, () => random.below(5_000_000));
        const scores = Float32Array.from({ length: 100 }, () => random.float());
        const basis = { version: 2 ** 52, settings: 7 };
        const list = { userRow, generation: 1, madeMs: 1e12, knowsMs: 1e12, itemRows, scores, basis };
        return [userRow, packList(list)] as const;
      }),
      [],
    );
    const { bytes } = await lists.getStats();
    await lists.close();
    expect(Math.abs(redisBytes(count) / bytes - 1)).toBeLessThan(0.2);
  });
});
