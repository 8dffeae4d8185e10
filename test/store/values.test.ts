import { expect, test, vi } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import type { DataReader } from '../../src/store/data-store.ts';
import { type ChangeSet, FeedbackColumns } from '../../src/store/data-store.ts';
import { openDataReader } from '../../src/store/open/thread-stores.ts';
import { close, feedback, openIn, putFeedback, putItems, storeOptions, tempFolder } from './helpers.ts';

const byValue = {
  positiveFeedbackTypes: ['rating>=4', 'rating>=5=3', 'like'],
  readFeedbackTypes: ['rating', 'read'],
};
const rating = (UserId: string, ItemId: string, Value: number) =>
  feedback('rating', UserId, ItemId, { Value });

/** The names of the types of a user's feedback, as those who learn from it see them, by item. */
function typesOf(data: Pick<DataReader, 'local'>, userId: string): Record<string, string> {
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

test('a type that counts from a value on is told apart by every reader, in what is told of a commit too', async () => {
  const folder = tempFolder();
  const stores = openIn(folder, byValue);
  const told: ChangeSet[] = [];
  stores.data.onChange((changes) => {
    told.push(changes);
  });
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

test('the feedback on one item is read alone, wherever in a long history it stands', async () => {
  const { data } = openIn(tempFolder(), byValue);
  const items = Array.from({ length: 500 }, (_, at) => `i${at}`);
  await data.write(
    putFeedback(
      items.flatMap((ItemId, at) => [
        rating('u', ItemId, at % 6),
        ...(at % 3 === 0 ? [feedback('read', 'u', ItemId)] : []),
      ]),
    ),
  );
  await data.write(putFeedback([feedback('like', 'v', 'later')]));
  const { local } = data;
  const userRow = local.userRow('u');
  const [all, pair] = [new FeedbackColumns(), new FeedbackColumns()];
  local.readUserFeedback(userRow, all);
  const recordsOf = ({ length, itemRows, types, timesMs }: FeedbackColumns) =>
    Array.from({ length }, (_, at) => [itemRows[at]!, types[at]!, timesMs[at]!]);
  for (const itemId of [...items, 'later']) {
    const row = local.itemRow(itemId);
    local.readPairFeedback(userRow, row, pair);
    expect(recordsOf(pair)).toEqual(recordsOf(all).filter(([itemRow]) => itemRow === row));
  }
});

test('the texts in labels of any form are compared', async () => {
  const { data } = openIn(tempFolder());
  const Labels = { genre: ['drama', ['court', 'drama']], year: 1957, seen: true, none: null };
  await data.write(
    putItems([
      { ItemId: 'i', Labels: Labels as never },
      { ItemId: 'j', Labels: ['plain'] },
    ]),
  );
  const labels: Record<string, readonly string[]> = {};
  data.local!.scanItems(0, (each) => void (labels[each.itemId] = each.labels));
  expect(labels).toEqual({ i: ['drama', 'court'], j: ['plain'] });
});

test('what was kept of commits under one set of kinds is not taken for what it means under another', async () => {
  const folder = tempFolder();
  const fours = { positiveFeedbackTypes: ['rating>=4'], readFeedbackTypes: [] };
  const threes = { positiveFeedbackTypes: ['rating>=3'], readFeedbackTypes: [] };
  const first = openIn(folder, fours);
  await first.data.write(putFeedback([rating('u', 'x', 4)]));
  const mark = first.data.local!.feedbackPosition!;
  await close(first);
  const same = openIn(folder, fours);
  expect(same.data.local!.replayFeedback(mark, () => {})).toBe(true);
  await close(same);
  const other = openIn(folder, threes);
  await other.data.write(putFeedback([rating('u', 'y', 3)]));
  await close(other);
  const again = openIn(folder, fours);
  expect(again.data.local!.replayFeedback(mark, () => {})).toBe(false);
  await close(again);
});

test('values of a long history are looked up once, and again where they may have changed', async () => {
  const folder = tempFolder();
  const stores = openIn(folder, byValue);
  const { data } = stores;
  const count = 600;
  const ids = Array.from({ length: count }, (_, at) => `i${at}`);
  await data.write(putFeedback(ids.map((id, at) => rating('u', id, at % 6))));
  const { values } = (data as unknown as { tables: { values: { getBinaryFast(key: Uint8Array): unknown } } })
    .tables;
  const looked = vi.spyOn(values, 'getBinaryFast');
  const lookedFor = (read: () => unknown) => {
    looked.mockClear();
    read();
    return looked.mock.calls.length;
  };
  const expected: Record<string, string> = {};
  const kindOf = (value: number) => (value >= 5 ? 'rating>=5' : value >= 4 ? 'rating>=4' : 'rating');
  for (const [at, id] of ids.entries()) expected[id] = kindOf(at % 6);
  expect(lookedFor(() => expect(typesOf(data, 'u')).toEqual(expected))).toBe(count);
  expect(lookedFor(() => expect(typesOf(data, 'u')).toEqual(expected))).toBe(0);
  const random = createRandom(5);
  const pick = () => ids[Math.floor(random.float() * count)]!;
  for (let round = 0; round < 30; round++) {
    const [id, value] = [pick(), Math.floor(random.float() * 6)];
    const kind = round % 3;
    if (kind === 0) await data.write(putFeedback([rating('u', id, value)], true));
    else if (kind === 1)
      await data.write({ kind: 'deleteFeedback', feedbackType: 'rating', userId: 'u', itemId: id });
    else
      await data.write(
        round === 29
          ? { kind: 'deleteItem', itemId: id }
          : putFeedback([rating('u', id, value), feedback('read', 'u', id)]),
      );
    const known = typesOf(data, 'u');
    const beside = openDataReader(storeOptions(folder).dataPath);
    expect(known).toEqual(typesOf(beside, 'u'));
    await beside.close();
    expect(lookedFor(() => typesOf(data, 'u'))).toBe(0);
  }
  // A user with as much, or a short history beside it, changes nothing of it.
  await data.write(putFeedback([rating('v', 'i0', 5)]));
  expect(typesOf(data, 'v')).toEqual({ i0: 'rating>=5' });
  expect(lookedFor(() => typesOf(data, 'u'))).toBe(0);
  await close(stores);
});

test('they are looked up some at a time before a long history is read, whatever is written meanwhile', async () => {
  const stores = openIn(tempFolder(), byValue);
  const { data } = stores;
  const ids = Array.from({ length: 600 }, (_, at) => `i${at}`);
  await data.write(putFeedback(ids.map((id, at) => rating('u', id, at % 6))));
  await data.write(putFeedback([rating('short', 'i0', 5)]));
  const { values } = (data as unknown as { tables: { values: { getBinaryFast(key: Uint8Array): unknown } } })
    .tables;
  const looked = vi.spyOn(values, 'getBinaryFast');
  const userRow = data.local.userRow('u');
  expect(data.local.feedbackAhead(data.local.userRow('short'))).toBeUndefined();
  expect(data.local.feedbackAhead(-1)).toBeUndefined();
  let pieces = 0;
  for (const _ of data.local.feedbackAhead(userRow)!) {
    expect(looked.mock.calls.length).toBeLessThanOrEqual(128);
    // One that is looked up already, one that is not, and one that is new.
    if (++pieces === 3)
      await data.write(
        putFeedback([rating('u', 'i0', 5), rating('u', 'i599', 4), rating('u', 'late', 4)], true),
      );
    looked.mockClear();
  }
  expect(pieces).toBeGreaterThan(4);
  looked.mockClear();
  expect(data.local.feedbackAhead(userRow)).toBeUndefined();
  const types = typesOf(data, 'u');
  expect(looked.mock.calls.length).toBeLessThanOrEqual(3);
  expect([types.i0, types.i599, types.late, types.i3, types.i4]).toEqual([
    ...['rating>=5', 'rating>=4', 'rating>=4', 'rating', 'rating>=4'],
  ]);
  // Very many that are written are so again.
  await data.write(
    putFeedback(
      ids.slice(0, 300).map((id) => rating('u', id, 6)),
      true,
    ),
  );
  expect(data.local.feedbackAhead(userRow)).toBeDefined();
  looked.mockRestore();
  await close(stores);
});
