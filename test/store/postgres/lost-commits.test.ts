import { describe, expect, test } from 'vitest';
import type { DataStore } from '../../../src/store/data-store.ts';
import { Connection } from '../../../src/store/postgres/connection.ts';
import { close, putUsers, tempFolder } from '../helpers.ts';
import { HAS_POSTGRES, newDsn, openNode } from './under-test.ts';

describe.skipIf(!HAS_POSTGRES)('a database that lost a commit while a node was down', () => {
  test.each([
    ['as many', ['b']],
    ['more', ['b', 'c']],
  ])('and has taken %s others since: the node shows what all others do', async (_, others) => {
    const dsn = newDsn();
    const folder = tempFolder();
    const away = await openNode(dsn, folder);
    await away.data.write(putUsers([{ UserId: 'a' }]));
    const connection = await Connection.open(dsn, 'test');
    const s = `"${dsn.schema}"`;
    const [head] = await connection.rows<[number, number]>(`SELECT position, mark FROM ${s}.head`);
    await away.data.write(putUsers([{ UserId: 'lost' }]));
    await close(away);
    // Back to what it was, as a server is that was behind when it took over.
    await connection.run(`
      BEGIN; DELETE FROM ${s}.users WHERE user_id = 'lost'; DELETE FROM ${s}.changes WHERE position > ${head![0]};
      UPDATE ${s}.head SET position = ${head![0]}, mark = ${head![1]}, next_user_row = 1; COMMIT`);
    await connection.close();
    const other = await openNode(dsn, tempFolder());
    for (const UserId of others) await other.data.write(putUsers([{ UserId }]));
    const back = await openNode(dsn, folder);
    expect(await userIds(back.data)).toEqual(['a', ...others]);
    expect(await userIds(other.data)).toEqual(['a', ...others]);
  });
});

async function userIds(data: DataStore): Promise<string[]> {
  const { rows } = await data.getUsers(10, '');
  return rows.map(({ UserId }) => UserId);
}
