import { expect, test, vi } from 'vitest';
import { limitRepeats } from '../../src/platform/log/limit-log-repeats.ts';
import { UnsavedStateCache } from '../../src/store/unsaved-state-cache.ts';
import { openIn, tempFolder } from './helpers.ts';

test('marks are kept while the cache takes none, and stored when it does', async () => {
  const { cache } = openIn(tempFolder());
  let isFull = true;
  const full = Object.create(cache) as typeof cache;
  full.putState = async (name, value) => {
    if (isFull) throw new Error('No space left on device');
    await cache.putState(name, value);
  };
  const troubles: string[] = [];
  const keeping = new UnsavedStateCache(full, (message) => troubles.push(message));
  await keeping.putState('a', 1);
  await keeping.putState('a', 2);
  await keeping.putState('b', null);
  expect([await keeping.getState('a'), await keeping.getState('b')]).toEqual([2, null]);
  expect(await cache.getState('a')).toBeUndefined();
  expect(troubles.length).toBeGreaterThan(0);
  isFull = false;
  await vi.waitFor(async () => expect(await cache.getState('a')).toBe(2), 600_000);
  await keeping.putState('c', 3);
  expect([await cache.getState('b'), await cache.getState('c')]).toEqual([null, 3]);
});

test('what cannot be read counts as missing, and the cache as away', async () => {
  const fails = async () => {
    throw new Error('MDB_PANIC');
  };
  const { cache } = openIn(tempFolder());
  const reads = { getState: fails, getList: fails, getBlob: fails, getStats: fails, getTables: fails };
  const unread = Object.assign(Object.create(cache) as typeof cache, reads, { putState: fails, ping: fails });
  const told: string[] = [];
  const keeping = new UnsavedStateCache(unread, (message) => told.push(message));
  expect([await keeping.getState('a'), await keeping.getList(1), await keeping.getBlob('b')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(await keeping.getStats()).toMatchObject({ lists: 0, isAvailable: false });
  expect(await keeping.getTables()).toEqual([]);
  expect(told).toEqual(Array(5).fill('The cache cannot be read; the service goes on without'));
  await keeping.putState('a', 1);
  expect(await keeping.getState('a')).toBe(1);
  await expect(keeping.ping()).rejects.toThrow('MDB_PANIC');
  await keeping.close();
});

test('the same message is let through once a minute', () => {
  let nowMs = 0;
  const told: string[] = [];
  const report = limitRepeats(
    (message) => told.push(`${message} at ${nowMs}`),
    () => nowMs,
  );
  for (nowMs = 0; nowMs <= 120_000; nowMs += 20_000) {
    report('a', undefined);
    if (nowMs === 20_000) report('b', undefined);
  }
  expect(told).toEqual(['a at 0', 'b at 20000', 'a at 60000', 'a at 120000']);
});
