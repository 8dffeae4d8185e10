import { describe, expect, test } from 'vitest';
import type { CacheStore, UserList } from '../../../src/store/cache-store.ts';
import type { Dsn } from '../../../src/store/dsn.ts';
import { openSharedLists } from '../../../src/store/open/open-shared-lists.ts';
import type { SharedPlace } from '../../../src/store/shared/shared-lists.ts';

/** An implementation of the cache store, as the contract's tests open it. */
export interface CacheUnderTest {
  /** An empty cache; closed, and its data removed, when the test ends. */
  open(): Promise<CacheStore>;
  /** Closes a cache and opens another one on the same data, as a restart does. */
  reopen(cache: CacheStore): Promise<CacheStore>;
}

/** A list as long as it is said to be. */
export function list(userRow: number, length: number): UserList {
  return {
    userRow,
    generation: 3,
    madeMs: 1_700_000_000_123,
    knowsMs: 1_700_000_000_456,
    itemRows: Uint32Array.from({ length }, (_, i) => i * 7),
    scores: Float32Array.from({ length }, (_, i) => 1 / (i + 1)),
    basis: { version: 2 ** 53 - 1 - length, settings: 0xffff_fff0 },
  };
}

/** What every cache store must do, whatever its engine. */
export function cacheStoreContract(name: string, { open, reopen }: CacheUnderTest): void {
  describe(`cache store: ${name}`, () => {
    test('lists are packed, replaced as a whole and deleted, and survive a restart', async () => {
      let cache = await open();
      for (const length of [0, 1, 100, 501, 10_000]) {
        await cache.putLists([list(1, length), list(2, 3)]);
        expect(await cache.getList(1)).toEqual(list(1, length));
        if (cache.local !== undefined) expect(cache.local.readList(1)).toEqual(list(1, length));
      }
      await cache.putLists([], [2, 77]);
      expect(await cache.getList(2)).toBeUndefined();
      await cache.putLists([list(4, 2)]);
      await cache.putLists([], [4]);
      expect(await cache.getList(4)).toBeUndefined();
      expect((await cache.getStats()).lists).toBe(1);
      cache = await reopen(cache);
      expect(await cache.getList(1)).toEqual(list(1, 10_000));
    });

    test('marks and blobs come back as they went in', async () => {
      let cache = await open();
      await cache.putState('generation', { number: 7, at: 'now', list: [1, 2] });
      expect(await cache.getState('generation')).toEqual({ number: 7, at: 'now', list: [1, 2] });
      expect(await cache.getState('none')).toBeUndefined();
      const bytes = Uint8Array.from({ length: 3_000_001 }, (_, i) => i * 31);
      await cache.putBlob('model', bytes);
      expect(Buffer.compare((await cache.getBlob('model'))!, bytes)).toBe(0);
      await cache.putBlob('model', Uint8Array.of(1));
      expect(await cache.getBlob('model')).toEqual(Uint8Array.of(1));
      expect(await cache.getBlob('none')).toBeUndefined();
      await cache.putBlob('empty', new Uint8Array(0));
      cache = await reopen(cache);
      expect((await cache.getBlob('empty'))?.length ?? 0).toBe(0);
      expect(await cache.getState('generation')).toEqual({ number: 7, at: 'now', list: [1, 2] });
      expect(await cache.getBlob('model')).toEqual(Uint8Array.of(1));
      await cache.ping();
    });
  });
}

/** What every place of shared lists must do, whatever its engine. @param newDsn names one that is empty */
export function sharedListsContract(name: string, newDsn: () => Dsn): void {
  const place = (dsn: Dsn, more: Partial<SharedPlace> = {}) =>
    openSharedLists({
      dsn: dsn as SharedPlace['dsn'],
      tag: 'one',
      ttlMs: 3_600_000,
      waitMs: 600_000,
      ...more,
    });

  describe(`shared lists: ${name}`, () => {
    test('what one has stored another finds, also many at once, and nobody else’s', async () => {
      const dsn = newDsn();
      const [a, b, other] = [place(dsn), place(dsn), place(dsn, { tag: 'two' })];
      const lists = Array.from({ length: 300 }, (_, at) => list(at * 3, at % 120));
      await Promise.all([
        a.change(lists.slice(0, 200), []),
        b.change(lists.slice(100).reverse(), [900, 901]),
      ]);
      expect(await b.findAll(lists.map(({ userRow }) => userRow))).toEqual(lists);
      expect(await Promise.all([0, 1, 3, 0].map((row) => a.find(row)))).toEqual([
        list(0, 0),
        undefined,
        list(3, 1),
        list(0, 0),
      ]);
      expect(await Promise.all(lists.map(({ userRow }) => a.find(userRow)))).toEqual(lists);
      expect(await other.find(3)).toBeUndefined();
      await a.change([], [3]);
      expect(await b.find(3)).toBeUndefined();
      await other.change([list(3, 100), list(4, 100)], []);
      const [mine, others] = [await b.getStats(), await other.getStats()];
      expect([mine.lists, others.lists]).toEqual([299, 2]);
      expect(others.bytes).toBeGreaterThan(0);
      expect(mine.bytes / others.bytes).toBeGreaterThan(10);
      for (const each of [a, b, other]) await each.close();
    });

    test('lists expire', async () => {
      const lists = place(newDsn(), { ttlMs: 1 });
      await lists.change([list(1, 5)], []);
      await lists.change([list(2, 5)], []);
      await expect.poll(() => lists.findAll([1, 2])).toEqual([undefined, undefined]);
      await lists.close();
    });
  });
}
