import { expect, it } from 'vitest';
import type { CacheStore } from '../../src/store/cache-store.ts';
import { checkHealth } from '../../src/store/check-health.ts';
import type { DataStore } from '../../src/store/data-store.ts';
import type { ShownLog } from '../../src/store/shown-log.ts';

const well = { ping: async () => {} };
const failed = { ping: () => Promise.reject(new Error('no room')) };
const [data, cache] = [well as unknown as DataStore, well as unknown as CacheStore];

it('is not ready once what was shown can be stored no more', async () => {
  expect(await checkHealth(data, cache, undefined)).toMatchObject({ Ready: true, DataStoreError: '' });
  expect(await checkHealth(data, cache, well as unknown as ShownLog)).toMatchObject({ Ready: true });
  const report = await checkHealth(data, cache, failed as unknown as ShownLog);
  expect(report).toMatchObject({ Ready: false, DataStoreConnected: false, DataStoreError: 'no room' });
});
