import { expect, test, vi } from 'vitest';
import { ListPlace } from '../../../src/recommend/lists/list-place.ts';
import type { CacheStore, UserList } from '../../../src/store/cache-store.ts';
import { UnsavedStateCache } from '../../../src/store/unsaved-state-cache.ts';

const list: UserList = {
  userRow: 7,
  generation: 1,
  madeMs: 5,
  knowsMs: 5,
  itemRows: Uint32Array.of(1),
  scores: Float32Array.of(1),
};

test('a cache that can neither be read nor written is as good as none, and it is told', async () => {
  const fails = () => {
    throw new Error('MDB_PANIC');
  };
  const told = vi.fn();
  const dead = { local: { refresh() {}, readList: fails }, putLists: async () => fails() };
  const place = new ListPlace({
    cache: new UnsavedStateCache(dead as unknown as CacheStore, told),
    isOfToday: () => true,
    onTrouble: (error) => told('lists cannot be stored in the cache', error),
    onLost: vi.fn(),
  });
  expect(place.last(7)).toBeUndefined();
  expect(told).toHaveBeenLastCalledWith(
    'The cache cannot be read; the service goes on without',
    expect.any(Error),
  );
  place.put(list);
  await place.flush();
  expect(told).toHaveBeenLastCalledWith('lists cannot be stored in the cache', expect.any(Error));
  place.hold(Uint32Array.of(7));
  place.release(Uint32Array.of(7), 5, () => true);
  // Nobody else has it.
  expect(place.last(7)).toBe(list);
});
