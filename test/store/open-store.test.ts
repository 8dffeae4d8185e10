import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compactStore } from '../../src/store/open/open-store.ts';
import { openDataReader } from '../../src/store/open/thread-stores.ts';
import { close, feedback, openIn, putFeedback, tempFolder } from './helpers.ts';

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
