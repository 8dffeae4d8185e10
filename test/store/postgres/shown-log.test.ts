import { describe, expect, test } from 'vitest';
import { Connection } from '../../../src/store/postgres/connection.ts';
import { PostgresShownLog } from '../../../src/store/postgres/postgres-shown-log.ts';
import { openSchema } from '../../../src/store/postgres/schema.ts';
import { shownLogContract } from '../contract/shown-log.ts';
import { HAS_POSTGRES, newDsn } from './under-test.ts';

async function newSchema() {
  const dsn = newDsn();
  const connection = await Connection.open(dsn, 'test');
  await openSchema(connection, dsn.schema);
  await connection.close();
  return dsn;
}

describe.skipIf(!HAS_POSTGRES)('over PostgreSQL', () => {
  shownLogContract(async () => {
    const dsn = await newSchema();
    return {
      open: (bounds) => PostgresShownLog.open(dsn, bounds),
      done: async () => {},
    };
  });

  test('two nodes make it once', async () => {
    const dsn = await newSchema();
    const bounds = { retentionMs: 1e10, bytesMax: 1e9 };
    const logs = await Promise.all([0, 1].map(() => PostgresShownLog.open(dsn, bounds)));
    const other = await PostgresShownLog.open(dsn, bounds);
    const list = { placement: 'home', variant: '', generation: 0, timeMs: 5 };
    const record = { userId: 'a', timeMs: 5, list, itemRows: [0], places: [1] };
    await logs[0]!.append([record]);
    expect(await other.ofUser('a')).toEqual([record]);
    for (const log of [...logs, other]) await log.close();
  });
});
