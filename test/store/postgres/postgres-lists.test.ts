import { expect, test, vi } from 'vitest';
import { Connection } from '../../../src/store/postgres/connection.ts';
import { PostgresLists } from '../../../src/store/postgres/postgres-lists.ts';
import { HAS_POSTGRES, newDsn } from './under-test.ts';

test.skipIf(!HAS_POSTGRES)('lists that have expired are removed, but for what others hold', async () => {
  const dsn = newDsn();
  const table = `"${dsn.schema}".cached_lists`;
  const lists = new PostgresLists(dsn, { dsn, tag: 'one', ttlMs: 3_600_000 });
  const connection = await Connection.open(dsn, 'test');
  try {
    // The table is made by the first question.
    expect(await lists.get([1])).toEqual([undefined]);
    await connection.run(
      `INSERT INTO ${table} SELECT 'old', n, now() - interval '1 hour', '' FROM generate_series(1, 2500) n`,
    );
    await connection.run(`BEGIN; SELECT 1 FROM ${table} WHERE user_row = 7 FOR UPDATE`);
    await lists.change([[1, Uint8Array.of(1)]], []);
    await vi.waitFor(
      async () =>
        expect(await connection.rows(`SELECT tag, user_row FROM ${table} ORDER BY user_row`)).toEqual([
          ['one', 1],
          ['old', 7],
        ]),
      { timeout: 600_000 },
    );
    await connection.run('ROLLBACK');
    const index = await connection.rows(
      `SELECT 1 FROM pg_indexes WHERE indexname = 'cached_lists_expires' AND schemaname = $1`,
      [dsn.schema],
    );
    expect(index).toHaveLength(1);
  } finally {
    await connection.close();
    await lists.close();
  }
});

test.skipIf(!HAS_POSTGRES)('very many lists are estimated, and no answer waits for that', async () => {
  const dsn = newDsn();
  const table = `"${dsn.schema}".cached_lists`;
  const lists = new PostgresLists(dsn, { dsn, tag: 'one', ttlMs: 3_600_000 });
  const connection = await Connection.open(dsn, 'test');
  try {
    await lists.change([[1, Uint8Array.of(1)]], []);
    expect((await lists.getStats()).lists).toBe(1);
    await connection.run(
      `INSERT INTO ${table} SELECT CASE n % 4 WHEN 0 THEN 'one' ELSE 'other' END, n, now() + interval '1 hour',
         decode(repeat('ab', 800), 'hex') FROM generate_series(2, 20001) n`,
    );
    const [size] = await connection.rows<[number]>(`SELECT pg_total_relation_size('${table}')`);
    const stats = await lists.getStats();
    // By a thousand pages, drawn out of four thousand.
    expect(stats.lists).toBeGreaterThan(4000);
    expect(stats.lists).toBeLessThan(6000);
    expect(stats.bytes / size![0]).toBeGreaterThan(0.2);
    expect(stats.bytes / size![0]).toBeLessThan(0.3);
    // What is counted is asked by a connection of its own.
    const asked = await connection.rows<[string]>(
      `SELECT query FROM pg_stat_activity WHERE application_name = 'furze lists' AND query LIKE '%${dsn.schema}%'`,
    );
    expect(asked.some(([query]) => query.includes('count'))).toBe(false);
  } finally {
    await connection.close();
    await lists.close();
  }
});
