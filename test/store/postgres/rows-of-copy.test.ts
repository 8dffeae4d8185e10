import { describe, expect, test } from 'vitest';
import type { DataStore } from '../../../src/store/data-store.ts';
import type { PostgresDsn } from '../../../src/store/dsn.ts';
import { Connection } from '../../../src/store/postgres/connection.ts';
import { feedback, passed, putFeedback, putItems, tempFolder } from '../helpers.ts';
import { HAS_POSTGRES, newDsn, openNode } from './under-test.ts';

const RULES = { repeatedTypes: ['buy'] };

async function open(dsn: PostgresDsn, isPartial = false): Promise<DataStore> {
  return (await openNode(dsn, tempFolder(), RULES, isPartial)).data;
}

/** Takes from nodes what they read of a group out of the database, or gives it back. */
async function rename(dsn: PostgresDsn, from: string, to: string): Promise<void> {
  const connection = await Connection.open(dsn, 'test');
  await connection.run(`ALTER FUNCTION "${dsn.schema}".${from} RENAME TO ${to}`);
  await connection.close();
}

/** A user's feedback as a node shows it. */
async function shown(data: DataStore, userId: string): Promise<string[]> {
  await passed(data, [userId]);
  const found: string[] = [];
  for (const { FeedbackType, ItemId, Timestamp, Comment, Value = 0 } of await data.getUserFeedback(userId))
    found.push(`${FeedbackType} ${ItemId} ${Timestamp.slice(0, 10)} ${Comment} ${Value}`);
  return found.sort();
}

describe.skipIf(!HAS_POSTGRES)('a group of feedback', () => {
  test('goes by the copy of its node, which asks the database nothing before it commits', async () => {
    const dsn = newDsn();
    const [one, other] = [await open(dsn), await open(dsn)];
    const day = (at: number) => ({ Timestamp: `2024-05-0${at}T00:00:00Z` });
    await one.write(putFeedback([feedback('like', 'u', 'a', day(1)), feedback('buy', 'u', 'a', day(1))]));
    // By now the types that it has added are read.
    await one.write(putFeedback([feedback('like', 'w', 'a', day(1))]));
    await rename(dsn, 'read_group', 'gone');
    await one.write(putFeedback([feedback('buy', 'u', 'a', { ...day(2), Value: 3, Comment: 'again' })]));
    await one.write(putFeedback([feedback('like', 'u', 'a', day(3)), feedback('like', 'v', 'b', day(3))]));
    await one.write(putFeedback([feedback('buy', 'u', 'a', { ...day(4), Value: 2 })]));
    const gone = { kind: 'deleteFeedback', userId: 'v', itemId: 'b', feedbackType: 'like' } as const;
    expect((await one.write(gone)).rowAffected).toBe(1);
    expect(await shown(one, 'u')).toEqual(await shown(other, 'u'));
    expect(await shown(other, 'u')).toHaveLength(2);
    expect(await shown(other, 'v')).toEqual([]);
    await rename(dsn, 'gone', 'read_group');
    const anew = await open(dsn);
    for (const user of ['u', 'v']) expect(await shown(anew, user)).toEqual(await shown(one, user));
  });

  test('reads again what another node has committed that the copy does not show yet', async () => {
    const dsn = newDsn();
    const [one, other] = [await open(dsn), await open(dsn)];
    await one.write(putItems([{ ItemId: 'a' }]));
    await one.write(putFeedback([feedback('like', 'u', 'a')]));
    for (let round = 0; round < 20; round++) {
      const at = { Timestamp: new Date(Date.UTC(2024, 0, 1 + round)).toISOString() };
      const both = [one, other].map((data) => data.write(putFeedback([feedback('buy', 'u', 'a', at)])));
      // Of the same event one is new, whoever is first.
      const affected = await Promise.all(both.map(async (written) => (await written).rowAffected));
      expect(affected.sort()).toEqual([0, 1]);
    }
    expect(await shown(one, 'u')).toEqual(await shown(other, 'u'));
  });

  test('of a user whom a server has not loaded, or of a type that came meanwhile, goes by the database', async () => {
    const dsn = newDsn();
    const [whole, server] = [await open(dsn), await open(dsn, true)];
    await whole.write(putFeedback([feedback('like', 'u', 'a'), feedback('like', 'v', 'a')]));
    await server.write(putFeedback([feedback('like', 'w', 'a')]));
    await passed(server, ['u']);
    await rename(dsn, 'read_group', 'gone');
    expect((await server.write(putFeedback([feedback('like', 'u', 'b')]))).rowAffected).toBe(1);
    await expect(server.write(putFeedback([feedback('like', 'v', 'b')]))).rejects.toThrow();
    await rename(dsn, 'gone', 'read_group');
    await server.write(putFeedback([feedback('like', 'v', 'b')]));
    // The number of a type that another node has added is not given once more.
    await whole.write(putFeedback([feedback('view', 'u', 'a')]));
    await passed(server, ['u']);
    await server.write(putFeedback([feedback('share', 'u', 'a'), feedback('view', 'u', 'b')]));
    const all = await shown(whole, 'u');
    expect(all.map((text) => text.slice(0, text.indexOf(' 20')))).toEqual([
      'like a',
      'like b',
      'share a',
      'view a',
      'view b',
    ]);
    expect(await shown(server, 'u')).toEqual(all);
  });
});
