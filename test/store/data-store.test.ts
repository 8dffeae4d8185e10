import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDataTables } from '../../src/store/lmdb/tables/data-tables.ts';
import { openDataReader } from '../../src/store/open/thread-stores.ts';
import { dataStoreContract, rows } from './contract/data-store.ts';
import { DirectStore } from './direct-store.ts';
import {
  close,
  code,
  feedback,
  lmdbUnderTest,
  openIn,
  putFeedback,
  sorted,
  storeOptions,
  tempFolder,
} from './helpers.ts';

const lmdb = lmdbUnderTest();
dataStoreContract('LMDB', lmdb);
rows(lmdb);

test('more feedback types than there are numbers is refused as a whole', async () => {
  const { data } = openIn(tempFolder());
  const tooMany = Array.from({ length: 4097 }, (_, i) => feedback(`type ${i}`, 'u', 'i'));
  await expect(data.write(putFeedback(tooMany))).rejects.toEqual(code('INVALID_BODY'));
  expect(await data.getUser('u')).toBeUndefined();
  expect((await data.write(putFeedback(tooMany.slice(1)))).rowAffected).toBe(4096);
  expect(await data.getUserFeedback('u')).toHaveLength(4096);
});

test('a feedback type without feedback gives its number back when numbers run out', async () => {
  const folder = tempFolder();
  const stores = openIn(folder);
  const { data } = stores;
  const renumbered: boolean[] = [];
  data.onChange((changes) => {
    renumbered.push(changes.renumbersTypes);
  });
  const all = Array.from({ length: 4096 }, (_, i) => feedback(`type ${i}`, i < 4094 ? 'u' : 'v', 'i'));
  await data.write(putFeedback(all));
  const other = openDataReader(join(folder, 'data'));
  expect(other.local!.feedbackTypes()[7]).toBe('type 7');
  const late = (type: string) => putFeedback([feedback(type, 'w', 'i')]);
  await expect(data.write(late('like'))).rejects.toEqual(code('INVALID_BODY'));
  await data.write({ kind: 'deleteFeedback', feedbackType: 'type 7', userId: 'u', itemId: 'i' });
  await data.write(late('like'));
  expect(renumbered).toEqual([false, false, true]);
  await expect(data.write(late('dislike'))).rejects.toEqual(code('INVALID_BODY'));
  expect(await data.getItemFeedback('i', 'type 7')).toEqual([]);
  expect((await data.getUserFeedback('w')).map((each) => each.FeedbackType)).toEqual(['like']);
  other.local!.refresh();
  expect(other.local!.feedbackTypes()[7]).toBe('like');
  expect(await other.getItemFeedback('i', 'like')).toHaveLength(1);
  await other.close();
  await data.write({ kind: 'deleteUser', userId: 'u' });
  const fresh = Array.from({ length: 4093 }, (_, i) => feedback(`new ${i}`, 'x', 'i'));
  expect((await data.write(putFeedback(fresh))).rowAffected).toBe(4093);
  await close(stores);
  const { data: again } = openIn(folder);
  expect(sorted(await again.getUserFeedback('x'))).toEqual(sorted(fresh));
  expect(await again.getUserFeedback('v')).toHaveLength(2);
});

test('in one commit a removal that follows an addition is told after it', async () => {
  const store = new DirectStore(join(tempFolder(), 'data'), { ...storeOptions('') });
  await store.writeGroup([
    putFeedback([feedback('other', 'u', 'i')], true),
    { kind: 'deleteUser', userId: 'u' },
    putFeedback([feedback('other', 'u', 'i')]),
  ]);
  expect(store.changes.map(({ added, removed }) => [added.length, removed.length])).toEqual([
    [1, 0],
    [0, 1],
    [1, 0],
  ]);
  expect(store.changes.map(({ deletedUserRows }) => deletedUserRows)).toEqual([[], [0], []]);
  await store.close();
});

test.each([1, 99])('a folder of format version %i is refused in one line', async (version) => {
  const dataPath = join(tempFolder(), 'data');
  const { engine, meta } = openDataTables(dataPath);
  engine.transact(() => meta.put(Buffer.from('format'), Uint8Array.of(version)));
  await engine.close();
  const refusal = new RegExp(
    `^The data folder .* has format version ${version}; this program reads 3 alone\\.[^\\n]*$`,
  );
  expect(() => openDataReader(dataPath)).toThrow(refusal);
  expect(() => openDataTables(dataPath)).toThrow(refusal);
});

test('a thread beside reads what is committed', async () => {
  const folder = tempFolder();
  const { data } = openIn(folder);
  await data.write(putFeedback([feedback('like', 'u', 'i', { Comment: 'c' })]));
  const reader = openDataReader(join(folder, 'data'));
  expect((await reader.getStats()).feedback).toBe(1);
  expect(reader.local?.feedbackTypes()).toEqual(['like']);
  await reader.close();
});
