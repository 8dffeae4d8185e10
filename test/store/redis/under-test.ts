import type { CacheStore } from '../../../src/store/cache-store.ts';
import type { Dsn, LmdbDsn } from '../../../src/store/dsn.ts';
import type { Stores } from '../../../src/store/open/open-store.ts';
import type { CacheUnderTest } from '../contract/cache-store.ts';
import { close, openIn, tempFolder } from '../helpers.ts';

/** Caches whose lists are in places that `newDsn` names, as the contract opens them. */
export function sharedUnderTest(newDsn: () => Dsn): CacheUnderTest {
  const opened = new Map<CacheStore, { dsn: Dsn; folder: string; stores: Stores }>();
  const open = (dsn: Dsn, folder: string) => {
    const sharing = { dsn: dsn as Exclude<Dsn, LmdbDsn>, ttlMs: 3_600_000, waitMs: 600_000 };
    const stores = openIn(folder, { sharing });
    opened.set(stores.cache, { dsn, folder, stores });
    return stores.cache;
  };
  return {
    open: async () => open(newDsn(), tempFolder()),
    async reopen(cache) {
      const { dsn, folder, stores } = opened.get(cache)!;
      await close(stores);
      return open(dsn, folder);
    },
  };
}
