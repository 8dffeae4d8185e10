import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compactSpacious, compactStore, openDataReader } from '../../src/store/open-store.ts';
import { close, feedback, openIn, putFeedback, storeOptions, tempFolder } from './helpers.ts';

test('a store of which much is free is rewritten when it is opened, unless there is too much to copy', async () => {
  const folder = tempFolder();
  const { dataPath } = storeOptions(folder);
  const rule = { freeShareMin: 0.5, freeBytesMin: 100_000, usedBytesMax: 2 ** 30 };
  expect(await compactSpacious(dataPath, rule)).toBeUndefined();
  const stores = openIn(folder);
  const all = Array.from({ length: 4000 }, (_, i) => feedback('other', `u${i % 4}`, `item-${i}`));
  await stores.data.write(putFeedback(all));
  await close(stores);
  expect(await compactSpacious(dataPath, { ...rule, freeShareMin: 0.95 })).toBeUndefined();
  const again = openIn(folder);
  for (let i = 0; i < 3; i++) await again.data.write({ kind: 'deleteUser', userId: `u${i}` });
  for (let i = 0; i < 4000; i += 1)
    if (i % 4 !== 3) void again.data.write({ kind: 'deleteItem', itemId: `item-${i}` });
  await again.data.write({ kind: 'deleteItem', itemId: 'none' });
  await close(again);
  const before = statSync(join(dataPath, 'data.mdb')).size;
  expect(await compactSpacious(dataPath, { ...rule, usedBytesMax: 1000 })).toMatchObject({
    isCompacted: false,
  });
  expect(statSync(join(dataPath, 'data.mdb')).size).toBe(before);
  expect(await compactSpacious(dataPath, rule)).toMatchObject({ isCompacted: true });
  expect(statSync(join(dataPath, 'data.mdb')).size).toBeLessThan(before / 2);
  expect(await openIn(folder).data.getStats()).toMatchObject({ users: 1, items: 1000, feedback: 1000 });
});

test('a compacted folder is smaller and holds the same', async () => {
  const folder = tempFolder();
  const stores = openIn(folder);
  const all = Array.from({ length: 4000 }, (_, i) => feedback('other', `u${(i * 7919) % 400}`, `i${i % 97}`));
  for (let i = 0; i < all.length; i += 500) await stores.data.write(putFeedback(all.slice(i, i + 500)));
  const { feedback: count } = await stores.data.getStats();
  await close(stores);
  const dataPath = join(folder, 'data');
  const { bytesBefore, bytesAfter } = await compactStore(dataPath);
  expect(bytesAfter).toBeLessThan(bytesBefore);
  const reader = openDataReader(dataPath);
  expect(await reader.getStats()).toMatchObject({ feedback: count, bytes: bytesAfter });
  expect(await reader.getUserFeedback('u1')).not.toEqual([]);
  await reader.close();
});
