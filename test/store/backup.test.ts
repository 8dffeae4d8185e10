import {
  copyFileSync,
  cpSync,
  createReadStream,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openDataTables } from '../../src/store/lmdb/tables/data-tables.ts';
import { backupStore, checkStore, compactStore, restoreStore } from '../../src/store/open/open-store.ts';
import { DirectStore } from './direct-store.ts';
import { close, feedback, openIn, putFeedback, sorted, storeOptions, tempFolder } from './helpers.ts';

/** Each batch is one user with 20 feedback; whole batches are there or none of it. */
const batch = (number: number) =>
  putFeedback(Array.from({ length: 20 }, (_, i) => feedback('like', `u${number}`, `i${i}`)));

test('a backup taken while writes go on is one state of the store, and is restored record by record', async () => {
  const folder = tempFolder();
  const stores = openIn(folder);
  const { data } = stores;
  for (let i = 0; i < 40; i++) await data.write(batch(i));
  let writing = true;
  const writes = (async () => {
    for (let i = 40; writing; i++) await data.write(batch(i));
  })();
  const { dataPath } = storeOptions(folder);
  const target = join(folder, 'backup');
  const copied = await backupStore(dataPath, target);
  const streamed = await data.backup();
  const bytes = await buffer(streamed.stream);
  writing = false;
  await writes;
  expect(bytes.length).toBe(streamed.bytes);
  expect(readdirSync(dataPath).filter((name) => name.startsWith('partial-'))).toEqual([]);
  expect(copied.users).toBeGreaterThanOrEqual(40);
  expect(copied.feedback).toBe(copied.users * 20);
  expect(await checkStore('data', target)).toMatchObject({ faultCount: 0, counts: { users: copied.users } });
  await expect(backupStore(dataPath, target)).rejects.toThrow(/already\. Nothing is written over/);
  await expect(backupStore(join(folder, 'none'), join(folder, 'b2'))).rejects.toThrow(/no data store/);

  // A lists' cache of the state before does not fit a state that was restored.
  await data.write(batch(1000));
  const list = { userRow: 1, generation: 1, madeMs: 0, knowsMs: 0 };
  await stores.cache.putLists([{ ...list, itemRows: new Uint32Array(1), scores: new Float32Array(1) }]);
  await close(stores);
  await expect(restoreStore({ source: target, dataPath, lockWaitMs: 0 })).rejects.toThrow(/over it/);
  const file = join(folder, 'stream.mdb');
  writeFileSync(file, bytes);
  for (const [name, source] of [
    ['from-folder', target],
    ['from-file', file],
    ['from-stream', createReadStream(file)],
  ] as const) {
    const into = join(folder, name);
    await mkdir(into);
    const restored = await restoreStore({ source, dataPath: into, lockWaitMs: 0 });
    expect(restored.feedback).toBe(restored.users * 20);
    expect(readdirSync(into).sort()).toEqual(['data.mdb', 'furze.lock']);
  }
  const troubles: string[] = [];
  const again = openIn(folder, {
    dataPath: join(folder, 'from-folder'),
    onTrouble: (text) => troubles.push(text),
  });
  expect(troubles.join()).toMatch(/another state/);
  expect(await again.cache.getList(1)).toBeUndefined();
  expect(sorted(await again.data.getUserFeedback('u39'))).toHaveLength(20);
  await again.data.write(batch(2000));
  await close(again);
  const once = openIn(folder, {
    dataPath: join(folder, 'from-folder'),
    onTrouble: (text) => troubles.push(text),
  });
  expect(troubles).toHaveLength(1);
  await close(once);
});

/** A list that says nothing but whose it is. */
const listOf = (userRow: number) => ({
  ...{ userRow, generation: 1, madeMs: 0, knowsMs: 0 },
  ...{ itemRows: new Uint32Array(1), scores: new Float32Array(1) },
});

test.each(['a backup that is served as it is', 'an older file that is put back', 'an older cache'])(
  'lists of another state of the data are not taken for those of %s',
  async (which) => {
    const folder = tempFolder();
    const { dataPath, cachePath } = storeOptions(folder);
    const at = (name: string) => join(folder, name, 'data.mdb');
    const troubles: string[] = [];
    const begun = openIn(folder, { onTrouble: (text) => troubles.push(text) });
    await begun.data.write(batch(0));
    await begun.cache.putLists([listOf(0)]);
    const target = join(folder, 'backup');
    await backupStore(dataPath, target);
    await close(begun);
    for (const kept of ['data', 'cache']) copyFileSync(at(kept), join(folder, `${kept}.mdb`));
    // What has been stopped and started finds its lists again.
    const next = openIn(folder, { onTrouble: (text) => troubles.push(text) });
    expect(await next.cache.getList(0)).toBeDefined();
    await next.data.write(batch(1));
    await next.cache.putLists([listOf(1)]);
    await close(next);
    if (which === 'an older file that is put back') copyFileSync(join(folder, 'data.mdb'), at('data'));
    if (which === 'an older cache') copyFileSync(join(folder, 'cache.mdb'), at('cache'));
    expect(troubles).toEqual([]);
    const served = which.startsWith('a backup') ? target : dataPath;
    const now = openIn(folder, { dataPath: served, cachePath, onTrouble: (text) => troubles.push(text) });
    expect(troubles.join()).toMatch(/another data store, or of another state of this one/);
    // The next new user gets the row of one whom this state does not know.
    await now.data.write(batch(2));
    expect([await now.cache.getList(0), await now.cache.getList(1)]).toEqual([undefined, undefined]);
  },
);

/** A folder with a store that holds something, and where a backup of it may come. */
async function stored() {
  const folder = tempFolder();
  const path = join(folder, 'data');
  const store = new DirectStore(path, storeOptions(''));
  await store.write(batch(1));
  await store.close();
  return { folder, path, target: join(folder, 'backup') };
}

test('a backup that is cut short, damaged, empty, not sound or of a newer version is refused in words', async () => {
  const { folder, path, target } = await stored();
  await backupStore(path, target);
  const file = join(target, 'data.mdb');
  const whole = readFileSync(file);
  const refusal = (source: string) =>
    restoreStore({ source, dataPath: join(folder, 'new'), lockWaitMs: 0 }).then(
      () => 'restored',
      (error: Error) => error.message,
    );
  truncateSync(file, whole.length - 4096);
  expect(await refusal(target)).toMatch(/cut short|ends before/);
  writeFileSync(file, Buffer.from(whole).fill(7, 0, 64));
  expect(await refusal(file)).toMatch(/^The backup is damaged: its first page/);
  writeFileSync(file, '');
  expect(await refusal(file)).toBe('The backup is empty.');
  expect(await refusal(join(folder, 'none'))).toMatch(/no backup in/);
  writeFileSync(file, whole);
  const tables = openDataTables(target);
  tables.engine.transact(() => tables.users.remove(new Uint8Array(4)));
  await tables.engine.close();
  expect(await refusal(target)).toMatch(/^The backup is not sound: /);
  writeFileSync(file, whole);
  const newer = openDataTables(target);
  newer.engine.transact(() => newer.meta.put(Buffer.from('format'), Uint8Array.of(99)));
  await newer.engine.close();
  expect(await refusal(target)).toMatch(
    /cannot be read: The data folder .* has format version 99; this program reads \d+ alone/,
  );
  expect(readdirSync(join(folder, 'new')).filter((name) => name !== 'furze.lock')).toEqual([]);
});

test('a backup of which any byte has changed is refused by its checksum; one that was served has none', async () => {
  const { folder, path, target } = await stored();
  const { file } = await backupStore(path, target);
  const whole = readFileSync(file);
  const restored = join(folder, 'new');
  const at = whole.lastIndexOf('user') + 1;
  writeFileSync(file, Buffer.from(whole).fill('z', at, at + 1));
  await expect(restoreStore({ source: target, dataPath: restored, lockWaitMs: 0 })).rejects.toThrow(
    /^The backup is damaged: its SHA-256 is [0-9a-f]{64}, and .*data\.mdb\.sha256 says [0-9a-f]{64}\.$/,
  );
  writeFileSync(file, whole);
  await restoreStore({ source: file, dataPath: restored, lockWaitMs: 0 });
  writeFileSync(`${file}.sha256`, '');
  await restoreStore({ source: file, dataPath: join(folder, 'third'), lockWaitMs: 0 });
  const served = new DirectStore(target, storeOptions(''));
  await served.write(batch(2));
  await served.close();
  const again = await restoreStore({ source: target, dataPath: join(folder, 'again'), lockWaitMs: 0 });
  expect(again.feedback).toBeGreaterThan(0);
});

test('a device is no backup', async () => {
  const asked = { source: '/dev/zero', dataPath: join(tempFolder(), 'new'), lockWaitMs: 0 };
  await expect(restoreStore(asked)).rejects.toThrow('/dev/zero is a device; name a file.');
});

test('what was deleted leaves no trace after a compaction, nor in a backup', async () => {
  const folder = tempFolder();
  const path = join(folder, 'data');
  const store = new DirectStore(path, storeOptions(''));
  const secret = feedback('like', 'forgotten-person', 'forgotten-item', { Comment: 'forgotten-words' });
  for (let i = 0; i < 30; i++) await store.write(batch(i));
  await store.write(putFeedback([secret]));
  for (let i = 30; i < 60; i++) await store.write(batch(i));
  await store.write({ kind: 'deleteUser', userId: 'forgotten-person' });
  await store.write({ kind: 'deleteItem', itemId: 'forgotten-item' });
  await store.close();
  const traces = (file: string) =>
    readFileSync(file)
      .toString('latin1')
      .match(/forgotten-\w+/g) ?? [];
  expect(traces(join(path, 'data.mdb'))).toContain('forgotten-person');
  const { file } = await backupStore(path, join(folder, 'backup'));
  expect(traces(file)).toEqual([]);
  await compactStore(path);
  expect(traces(join(path, 'data.mdb'))).toEqual([]);
  expect(await checkStore('data', path)).toMatchObject({ faultCount: 0, counts: { users: 60 } });
});

test('of two copies into one folder at once the second is refused in a line, and takes nothing of the first away', async () => {
  const folder = tempFolder();
  const stores = openIn(folder);
  await stores.data.write(batch(0));
  const { dataPath } = storeOptions(folder);
  const target = join(folder, 'backup');
  const [first, second] = await Promise.allSettled([
    backupStore(dataPath, target),
    backupStore(dataPath, target),
  ]);
  const made = [first, second].filter(({ status }) => status === 'fulfilled');
  expect(made).toMatchObject([{ value: { users: 1, feedback: 20 } }]);
  const refused = [first, second].find(({ status }) => status === 'rejected') as PromiseRejectedResult;
  expect(refused.reason.message).toMatch(/^The folder \S+ is in use by process \d+ on .+\.$/);
  expect(readdirSync(target).sort()).toEqual(['data.mdb', 'data.mdb.sha256']);
  expect(await checkStore('data', target)).toMatchObject({ faultCount: 0 });
  await close(stores);
});

test('where a restore was killed nothing begins anew as if that were all there is; run again, it is done', async () => {
  const folder = tempFolder();
  const stores = openIn(folder);
  await stores.data.write(batch(0));
  const backup = join(folder, 'backup');
  await close(stores);
  await backupStore(storeOptions(folder).dataPath, backup);
  const bytes = readFileSync(join(backup, 'data.mdb'));
  const source = new PassThrough();
  source.write(bytes.subarray(0, 20_000));
  const restoring = join(folder, 'restoring');
  const restored = restoreStore({ source, dataPath: restoring, lockWaitMs: 0 });
  const killed = join(folder, 'killed');
  const options = storeOptions(killed);
  await expect.poll(() => readdirSync(restoring).some((name) => name.startsWith('partial-'))).toBe(true);
  cpSync(restoring, options.dataPath, { recursive: true, filter: (path) => !path.endsWith('.lock') });
  expect(() => openIn(killed)).toThrow(
    /^A restore into \S+ was cut off: run it again, or remove \S+ to begin without data\.$/,
  );
  await restoreStore({ source: backup, dataPath: options.dataPath, lockWaitMs: 0 });
  const again = openIn(killed);
  expect(await again.data.getStats()).toMatchObject({ users: 1, feedback: 20 });
  await close(again);
  source.end(bytes.subarray(20_000));
  await restored;
});
