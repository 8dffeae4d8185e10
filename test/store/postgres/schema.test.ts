import { describe, expect, test, vi } from 'vitest';
import { Connection } from '../../../src/store/postgres/connection.ts';
import { openSchema } from '../../../src/store/postgres/schema.ts';
import { close, feedback, putFeedback, sorted, tempFolder, walk } from '../helpers.ts';
import { HAS_POSTGRES, newDsn, openNode } from './under-test.ts';

/** Feedback as the first format had it: made of what there is, by SQL. */
function asFirstFormat(s: string): string {
  const partitions = Array.from(
    { length: 8 },
    (_, at) =>
      `CREATE TABLE ${s}.feedback_${at} PARTITION OF ${s}.feedback FOR VALUES WITH (MODULUS 8, REMAINDER ${at});`,
  );
  return `
    CREATE TEMPORARY TABLE packed AS SELECT * FROM ${s}.feedback;
    DROP TABLE ${s}.feedback;
    CREATE TABLE ${s}.feedback (
      time_ms bigint NOT NULL, user_row integer NOT NULL, item_row integer NOT NULL, type smallint NOT NULL,
      PRIMARY KEY (user_row, item_row, type)) PARTITION BY HASH (user_row);
    ${partitions.join('\n')}
    CREATE INDEX feedback_item ON ${s}.feedback (item_row);
    INSERT INTO ${s}.feedback
      SELECT type_time - (type_time >> 52 << 52) - 2251799813685248, user_row, item_row, type_time >> 52 FROM packed;
    UPDATE ${s}.head SET format = 1`;
}

describe.skipIf(!HAS_POSTGRES)('tables of the format before', () => {
  test('are brought to this one once no older node uses them, and nothing is lost', async () => {
    const dsn = newDsn();
    const s = `"${dsn.schema}"`;
    const node = await openNode(dsn, tempFolder());
    const records = Array.from({ length: 400 }, (_, at) =>
      feedback(['read', 'like', 'late'][at % 3]!, `u${at % 13}`, `i${(at * 31) % 90}`, {
        Timestamp: ['2024-05-06T07:08:09.123Z', '1931-01-02T00:00:00Z', '9999-12-31T23:59:59Z'][at % 3]!,
        Comment: at % 10 === 0 ? `of ${at}` : '',
      }),
    );
    await node.data.write(putFeedback(records, true));
    const all = async ({ data }: typeof node) =>
      sorted(await walk(50, (n, cursor) => data.getFeedbackPage(n, cursor)));
    const before = await all(node);
    await close(node);
    const connection = await Connection.open(dsn, 'test');
    const shape = async () => [
      await connection.rows(
        `SELECT attname, atttypid FROM pg_attribute WHERE attrelid = '${s}.feedback_3'::regclass AND attnum > 0 AND NOT attisdropped`,
      ),
      await connection.rows(
        `SELECT replace(indexdef, indexname, '') FROM pg_indexes WHERE schemaname = '${dsn.schema}' AND tablename = 'feedback_3' ORDER BY 1`,
      ),
    ];
    const fresh = await shape();
    await connection.run(asFirstFormat(s));
    expect(await shape()).not.toEqual(fresh);
    await connection.run(
      `INSERT INTO ${s}.nodes (id, name, role, version, address, generation, lag) VALUES ('x', 'old-one', 'all', '0', '', 0, 0)`,
    );
    await expect(openSchema(connection, dsn.schema)).rejects.toThrow(/\(old-one\) still use it/);
    expect(await shape()).not.toEqual(fresh);
    await connection.run(`UPDATE ${s}.nodes SET seen = now() - interval '16 seconds'`);
    const other = await Connection.open(dsn, 'test');
    const bounds: unknown[] = [];
    for (const each of [connection, other]) {
      await each.run(`SET statement_timeout = '1h'; SET lock_timeout = '1h'`);
      const run = each.run.bind(each);
      vi.spyOn(each, 'run').mockImplementation(async (text, values) => {
        if (text.includes('ALTER TABLE'))
          bounds.push(
            ...(await each.rows('SHOW statement_timeout')),
            ...(await each.rows('SHOW lock_timeout')),
          );
        return run(text, values);
      });
    }
    await Promise.all([connection, other].map((each) => openSchema(each, dsn.schema)));
    // However much there is to bring over, no bound of the server's cuts it off.
    expect(bounds).toEqual([['0'], ['0']]);
    await other.close();
    expect(await shape()).toEqual(fresh);
    const anew = await openNode(dsn, tempFolder());
    expect(await all(anew)).toEqual(before);
    await anew.data.write(putFeedback(records.slice(0, 30), true));
    await anew.data.write({ kind: 'deleteUser', userId: 'u3' });
    expect(await all(anew)).toEqual(before.filter(({ UserId }) => UserId !== 'u3'));
    const twice = await connection.rows(
      `SELECT user_row FROM ${s}.feedback GROUP BY user_row, item_row, type_time >> 52 HAVING count(*) > 1`,
    );
    expect(twice).toEqual([]);
    await close(anew);
    await connection.close();
  });
});
