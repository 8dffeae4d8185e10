import { expect, test } from 'vitest';
import { type ChangeSet, FeedbackColumns } from '../../src/store/data-store.ts';
import { openDataTables } from '../../src/store/lmdb/data-tables.ts';
import { openDataReader } from '../../src/store/open-store.ts';
import {
  close,
  feedback,
  openIn,
  putFeedback,
  putItems,
  putUsers,
  storeOptions,
  tempFolder,
  walk,
} from './helpers.ts';

const byValue = {
  positiveFeedbackTypes: ['rating>=4', 'rating>=5=3', 'like'],
  readFeedbackTypes: ['rating', 'read'],
};
const rating = (UserId: string, ItemId: string, Value: number) =>
  feedback('rating', UserId, ItemId, { Value });

/** The names of the types of a user's feedback, as those who learn from it see them, by item. */
function typesOf(
  data: Pick<ReturnType<typeof openDataReader>, 'local'>,
  userId: string,
): Record<string, string> {
  const local = data.local!;
  const columns = new FeedbackColumns();
  local.readUserFeedback(local.userRow(userId), columns);
  const names = local.feedbackTypes();
  return Object.fromEntries(
    Array.from({ length: columns.length }, (_, at) => [
      local.itemIdAt(columns.itemRows[at]!)!,
      names[columns.types[at]!]!,
    ]),
  );
}

test('a value is given back where it is not 0, and goes with its feedback', async () => {
  const { data } = openIn(tempFolder());
  await data.write(putFeedback([rating('u', 'a', 3.5), rating('u', 'b', 0), feedback('like', 'u', 'c')]));
  const all = await data.getUserFeedback('u');
  expect(all.map(({ ItemId, Value }) => [ItemId, Value])).toEqual([
    ['a', 3.5],
    ['b', undefined],
    ['c', undefined],
  ]);
  expect(all[1]).not.toHaveProperty('Value');
  expect(await walk(1, (n, cursor) => data.getFeedbackPage(n, cursor, 'rating'))).toEqual(all.slice(0, 2));
  // POST keeps what is there, PUT writes over it, with a value or without.
  await data.write(putFeedback([rating('u', 'a', 1)]));
  expect((await data.getFeedback('rating', 'u', 'a'))?.Value).toBe(3.5);
  await data.write(putFeedback([rating('u', 'a', -2), rating('u', 'b', 7)], true));
  expect((await data.getFeedback('rating', 'u', 'a'))?.Value).toBe(-2);
  await data.write(putFeedback([rating('u', 'a', 0)], true));
  expect(await data.getFeedback('rating', 'u', 'a')).not.toHaveProperty('Value');
  const { removed } = await data.write({
    kind: 'deleteFeedback',
    feedbackType: undefined,
    userId: 'u',
    itemId: 'b',
  });
  expect(removed).toMatchObject([{ Value: 7 }]);
  await data.write(putFeedback([feedback('rating', 'u', 'b')]));
  expect(await data.getFeedback('rating', 'u', 'b')).not.toHaveProperty('Value');
});

test('a type that counts from a value on is told apart by every reader, in what is told of a commit too', async () => {
  const folder = tempFolder();
  const stores = openIn(folder, byValue);
  const told: ChangeSet[] = [];
  stores.data.onChange((changes) => told.push(changes));
  await stores.data.write(
    putFeedback([
      rating('u', 'low', 2),
      rating('u', 'good', 4),
      rating('u', 'best', 5),
      feedback('like', 'u', 'x'),
    ]),
  );
  const expected = { low: 'rating', good: 'rating>=4', best: 'rating>=5', x: 'like' };
  expect(typesOf(stores.data, 'u')).toEqual(expected);
  const [first] = told;
  const namesTold = Array.from(
    first!.added.types.subarray(0, first!.added.length),
    (type) => first!.feedbackTypes[type],
  );
  expect(namesTold.sort()).toEqual(Object.values(expected).sort());
  const beside = openDataReader(storeOptions(folder).dataPath);
  expect(typesOf(beside, 'u')).toEqual(expected);
  await beside.close();
  // The API knows the types as they were written.
  expect((await stores.data.getUserFeedback('u', 'rating')).map(({ FeedbackType }) => FeedbackType)).toEqual(
    Array(3).fill('rating'),
  );
  // A better rating is taken out as what it was and put in as what it is.
  await stores.data.write(putFeedback([rating('u', 'low', 5)], true));
  const { removed, added, feedbackTypes } = told.at(-1)!;
  expect([feedbackTypes[removed.types[0]!], feedbackTypes[added.types[0]!]]).toEqual(['rating', 'rating>=5']);
  // Other thresholds after a restart mean other kinds.
  await close(stores);
  const again = openIn(folder, { ...byValue, positiveFeedbackTypes: ['rating>4.5'] });
  expect(typesOf(again.data, 'u')).toEqual({
    low: 'rating>4.5',
    good: 'rating',
    best: 'rating>4.5',
    x: 'like',
  });
});

test('only feedback that reaches the value takes the place of what was read', async () => {
  const { data } = openIn(tempFolder(), byValue);
  await data.write(putFeedback([feedback('read', 'u', 'a'), feedback('read', 'u', 'b')]));
  await data.write(putFeedback([rating('u', 'a', 3), rating('u', 'b', 4)]));
  const types = async (itemId: string) =>
    (await data.getPairFeedback('u', itemId)).map(({ FeedbackType }) => FeedbackType).sort();
  expect(await types('a')).toEqual(['rating', 'read']);
  expect(await types('b')).toEqual(['rating']);
});

test('a folder of before there were values is read as it is', async () => {
  const folder = tempFolder();
  const { dataPath } = storeOptions(folder);
  const stores = openIn(folder);
  await stores.data.write(putFeedback([feedback('like', 'u', 'a')]));
  await close(stores);
  const tables = openDataTables(dataPath);
  const state = Uint8Array.from(tables.meta.getBinary(Buffer.from('state'))!);
  tables.engine.transact(() => tables.meta.put(Buffer.from('state'), state.subarray(0, 56)));
  await tables.engine.close();
  const { data } = openIn(folder);
  await data.write(putFeedback([rating('u', 'b', 4)]));
  expect((await data.getStats()).feedback).toBe(2);
  expect((await data.getUserFeedback('u')).map(({ Value }) => Value)).toEqual([undefined, 4]);
});

test('labels of any form are kept as they came; the texts in them are compared', async () => {
  const folder = tempFolder();
  const stores = openIn(folder);
  const Labels = { genre: ['drama', ['court', 'drama']], year: 1957, seen: true, none: null };
  await stores.data.write(
    putItems([
      { ItemId: 'i', Labels: Labels as never },
      { ItemId: 'j', Labels: ['plain'] },
    ]),
  );
  await stores.data.write(putUsers([{ UserId: 'u', Labels: 'alone' as never, Comment: 'c' }]));
  await close(stores);
  const { data } = openIn(folder);
  const item = await data.getItem('i');
  expect(item).toMatchObject({ Labels: ['drama', 'court'], LabelsAsGiven: Labels });
  expect(await data.getItem('j')).not.toHaveProperty('LabelsAsGiven');
  expect(await data.getUser('u')).toMatchObject({ Labels: ['alone'], LabelsAsGiven: 'alone', Comment: 'c' });
  const labels: Record<string, readonly string[]> = {};
  data.local!.scanItems(0, (each) => void (labels[each.itemId] = each.labels));
  expect(labels).toEqual({ i: ['drama', 'court'], j: ['plain'] });
  const toJson = (value: unknown) => Uint8Array.from(Buffer.from(JSON.stringify(value)));
  await data.write({ kind: 'patchItem', itemId: 'i', json: toJson({ IsHidden: true }) });
  expect((await data.getItem('i'))?.LabelsAsGiven).toEqual(Labels);
  await data.write({ kind: 'patchItem', itemId: 'i', json: toJson({ Labels: ['x'] }) });
  expect((await data.getItem('i'))?.LabelsAsGiven).toBeUndefined();
});
