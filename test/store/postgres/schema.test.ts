import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { OperatorError } from '../../../src/domain/operator-error.ts';
import { Connection } from '../../../src/store/postgres/connection.ts';
import {
  FORMAT_VERSION,
  FUNCTIONS_VERSION,
  functionsOf,
  openSchema,
} from '../../../src/store/postgres/schema.ts';
import { HAS_POSTGRES, newDsn } from './under-test.ts';

describe.skipIf(!HAS_POSTGRES)('the tables', () => {
  test.each([1, FORMAT_VERSION - 1, FORMAT_VERSION + 1])(
    'of format %i are refused in one line',
    async (format) => {
      const dsn = newDsn();
      const connection = await Connection.open(dsn, 'test');
      const head = await openSchema(connection, dsn.schema);
      expect(await openSchema(connection, dsn.schema)).toEqual(head);
      await connection.run(`UPDATE "${dsn.schema}".head SET format = ${format}`);
      await expect(openSchema(connection, dsn.schema)).rejects.toThrow(
        `The schema "${dsn.schema}" has format version ${format}; this program reads ${FORMAT_VERSION}: use the furze that made it, or a new schema.`,
      );
      await connection.close();
    },
  );

  test.each([
    ['format integer', '(3)', 'has format version 3'],
    ['format integer, epoch bigint', '(7, 1)', 'has format version 7'],
    ['name text', "('x')", 'has tables that furze did not make'],
    ['format text', "('x')", 'has tables that furze did not make'],
    ['format integer', '', 'has tables that furze did not make'],
  ])('with a head of the columns %s and the row %s are refused in one line', async (columns, row, words) => {
    const dsn = newDsn();
    const connection = await Connection.open(dsn, 'test');
    const head = `"${dsn.schema}".head`;
    await connection.run(`CREATE SCHEMA "${dsn.schema}"; CREATE TABLE ${head} (${columns})`);
    if (row !== '') await connection.run(`INSERT INTO ${head} VALUES ${row}`);
    const error: Error = await openSchema(connection, dsn.schema).then(Promise.reject, (thrown) => thrown);
    expect(error).toBeInstanceOf(OperatorError);
    expect(error.message).toMatch(new RegExp(`^The schema "${dsn.schema}" ${words}[^\n]*$`));
    await connection.close();
  });

  test('have their functions replaced by a node that knows later ones, and by no other', async () => {
    const dsn = newDsn();
    const connection = await Connection.open(dsn, 'test');
    await openSchema(connection, dsn.schema);
    const body = async () =>
      (
        await connection.rows(
          `SELECT prosrc FROM pg_proc WHERE proname = 'read_group' AND pronamespace = '"${dsn.schema}"'::regnamespace`,
        )
      )[0]![0];
    const now = await body();
    const tamper = (version: string) =>
      connection.run(
        `UPDATE pg_proc SET prosrc = 'BEGIN END' WHERE proname = 'read_group' AND pronamespace = '"${dsn.schema}"'::regnamespace;
         COMMENT ON PROCEDURE "${dsn.schema}".commit_group IS ${version}`,
      );
    await tamper(`'${FUNCTIONS_VERSION + 1}'`);
    await openSchema(connection, dsn.schema);
    expect(await body()).toBe('BEGIN END');
    // As tables of before the functions had a version.
    await tamper('NULL');
    await Promise.all([openSchema(connection, dsn.schema), openSchema(connection, dsn.schema)]);
    expect(await body()).toBe(now);
    await connection.close();
  });

  test('have functions of a version that is raised with them', () => {
    const digest = createHash('sha256').update(functionsOf('s')).digest('hex');
    expect([FUNCTIONS_VERSION, digest]).toEqual([
      1,
      '933183a9b0b78cdaf4081d08cfbfffb1fa8e66c9f33096b9733acc0957fa8e8d',
    ]);
  });

  test('are made once by two who start at the same time', async () => {
    const dsn = newDsn();
    const both = await Promise.all([1, 2].map(() => Connection.open(dsn, 'test')));
    const [one, other] = await Promise.all(both.map((each) => openSchema(each, dsn.schema)));
    expect(one).toEqual(other);
    for (const each of both) await each.close();
  });
});
