import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import { FeedbackColumns } from '../../src/store/data-store.ts';
import { checkStore } from '../../src/store/open/open-store.ts';
import { openDataReader } from '../../src/store/open/thread-stores.ts';
import { close, feedback, openIn, putFeedback, sorted, storeOptions, tempFolder } from './helpers.ts';

const TEXT = 'x'.repeat(2000);
const batch = (user: string, count = 20, Comment = TEXT) =>
  putFeedback(Array.from({ length: count }, (_, i) => feedback('like', user, `i${i}`, { Comment })));

test('a store is rewritten while it is read and written, and nothing of it changes but its size', async () => {
  const folder = tempFolder();
  const { dataPath } = storeOptions(folder);
  const stores = openIn(folder);
  const { data } = stores;
  for (let i = 0; i < 60; i++) await data.write(batch(`u${i}`));
  for (let i = 0; i < 50; i++) await data.write({ kind: 'deleteUser', userId: `u${i}` });
  // A reader of a worker's kind, which has the old file open and in use.
  const reader = openDataReader(dataPath);
  expect(await reader.getUserFeedback('u55')).toHaveLength(20);

  const random = createRandom(1);
  const expected = new Map(Array.from({ length: 10 }, (_, i) => [`u${50 + i}`, 20]));
  let writing = true;
  let written = 0;
  const writes = (async () => {
    for (; writing; written++) {
      const userId = `w${random.below(40)}`;
      if (random.below(4) === 0) {
        await data.write({ kind: 'deleteUser', userId });
        expected.delete(userId);
      } else {
        const count = 1 + random.below(20);
        await data.write(batch(userId, count, `${written}`));
        expected.set(userId, Math.max(count, expected.get(userId) ?? 0));
      }
      // What was just written is read at once.
      expect((await data.getUserFeedback(userId)).length).toBe(expected.get(userId) ?? 0);
    }
  })();
  const progress: number[] = [];
  const [result, joined] = await Promise.all([
    data.compact!((done, total) => progress.push(done / total)),
    data.compact!(),
  ]);
  const again = await data.compact!();
  writing = false;
  await writes;

  expect(joined).toEqual(result);
  expect(result.bytesAfter).toBeLessThan(result.bytesBefore / 2);
  expect(again.bytesAfter).toBeGreaterThan(0);
  expect(progress.length).toBeGreaterThan(0);
  expect(written).toBeGreaterThan(0);
  expect(statSync(join(dataPath, 'data.mdb')).size).toBe((await data.getStats()).bytes);
  expect(readdirSync(dataPath).filter((name) => name.startsWith('partial-'))).toEqual([]);
  await data.write(batch('after'));
  expected.set('after', 20);

  // The other reader goes over to the new file with its next look.
  reader.local!.refresh();
  const columns = new FeedbackColumns();
  reader.local!.readUserFeedback(reader.local!.userRow('after'), columns);
  expect(columns.length).toBe(20);
  await reader.close();

  const backup = await data.backup();
  expect((await buffer(backup.stream)).length).toBe(backup.bytes);
  const all = new Map<string, number>();
  const userPage = await data.getUsers(1000, '');
  for (const { UserId } of userPage.rows) all.set(UserId, (await data.getUserFeedback(UserId)).length);
  expect([...all].sort()).toEqual([...expected].sort());
  await close(stores);
  expect(await checkStore('data', dataPath)).toMatchObject({
    faultCount: 0,
    counts: { users: expected.size },
  });
  const reopened = openIn(folder);
  expect(sorted(await reopened.data.getUserFeedback('after'))).toHaveLength(20);
});

test('nothing is left in the file of what was deleted, and the file that held it is given back', async () => {
  const folder = tempFolder();
  const { dataPath } = storeOptions(folder);
  const { data } = openIn(folder, { sync: 'disk' });
  await data.write(batch('keeper'));
  await data.write(batch('forgotten-person', 5, 'forgotten-words'));
  await data.write({ kind: 'deleteUser', userId: 'forgotten-person' });
  const traces = () => /forgotten-\w+/.test(readFileSync(join(dataPath, 'data.mdb'), 'latin1'));
  expect(traces()).toBe(true);
  await data.compact!();
  expect(traces()).toBe(false);
  const maps = existsSync('/proc/self/maps') ? readFileSync('/proc/self/maps', 'utf8') : '';
  const open = maps.split('\n');
  expect(open.filter((line) => line.includes(dataPath) && line.includes('(deleted)'))).toEqual([]);
});

test('a compaction that is cut off by the end of the service, or fails, leaves the store as it was', async () => {
  const folder = tempFolder();
  const { dataPath } = storeOptions(folder);
  const stores = openIn(folder);
  for (let i = 0; i < 40; i++) await stores.data.write(batch(`u${i}`));
  const cut = stores.data.compact!().then(
    () => 'done',
    (error: Error) => error.message,
  );
  await close(stores);
  expect(await cut).toMatch(/^(done$|The data store was )/);
  expect(readdirSync(dataPath).filter((name) => name.startsWith('partial-'))).toEqual([]);

  const again = openIn(folder);
  const failing = again.data.compact!(() => {
    // The folder of the copy goes away while it is made.
    for (const name of readdirSync(dataPath))
      if (name.startsWith('partial-')) rmSync(join(dataPath, name), { recursive: true, force: true });
  });
  await expect(failing).rejects.toThrow(/was not rewritten/);
  expect((await again.data.getStats()).users).toBe(40);
  await again.data.write(batch('after'));
  await again.data.compact!();
  await again.data.ping();
  expect(await again.data.getUserFeedback('after')).toHaveLength(20);
  await close(again);
  await expect(again.data.compact!()).rejects.toThrow(/no writes/);
  expect(existsSync(join(dataPath, 'data.mdb'))).toBe(true);
  expect(await checkStore('data', dataPath)).toMatchObject({ faultCount: 0, counts: { users: 41 } });
});

test('a compaction that could not begin is no bar to the next', async () => {
  const folder = tempFolder();
  const { dataPath } = storeOptions(folder);
  const { data } = openIn(folder);
  await data.write(batch('u'));
  renameSync(dataPath, `${dataPath}-away`);
  await expect(data.compact!()).rejects.toThrow(/was not rewritten/);
  renameSync(`${dataPath}-away`, dataPath);
  expect((await data.compact!()).bytesAfter).toBeGreaterThan(0);
});
