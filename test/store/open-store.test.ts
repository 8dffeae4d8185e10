import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compactStore, openDataReader, parseDsn } from '../../src/store/open-store.ts';
import { close, feedback, openIn, putFeedback, tempFolder } from './helpers.ts';

test('a DSN names a folder, and any other scheme is refused by name', () => {
  expect(parseDsn('lmdb://./data')).toEqual({ engine: 'lmdb', path: './data' });
  expect(parseDsn('lmdb:///var/lib/furze')).toEqual({ engine: 'lmdb', path: '/var/lib/furze' });
  expect(() => parseDsn('mysql://host/db')).toThrow(/scheme "mysql"/);
  expect(() => parseDsn('./data')).toThrow(/no scheme/);
  expect(() => parseDsn('lmdb://')).toThrow(/no path/);
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
