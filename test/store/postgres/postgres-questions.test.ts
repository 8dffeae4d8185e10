import { describe, expect, test } from 'vitest';
import { Connection } from '../../../src/store/postgres/connection.ts';
import { PostgresQuestions } from '../../../src/store/postgres/postgres-questions.ts';
import { openSchema } from '../../../src/store/postgres/schema.ts';
import { HAS_POSTGRES, newDsn } from './under-test.ts';

describe.skipIf(!HAS_POSTGRES)('questions to other nodes', () => {
  test('one whose answer never comes is given up, and holds up no other', async () => {
    const dsn = newDsn();
    const connection = await Connection.open(dsn, 'test');
    await openSchema(connection, dsn.schema);
    const asking = new PostgresQuestions(dsn, 2000);
    const answering = new PostgresQuestions(dsn, 500);
    answering.answer((question) =>
      question === 'hang' ? new Promise(() => {}) : Promise.resolve(`${question} it is`),
    );
    await expect(asking.ask('hang')).rejects.toThrow('no answer within 500 ms');
    expect(await asking.ask('this')).toBe('this it is');
    await Promise.all([asking.close(), answering.close(), connection.close()]);
  });
});
