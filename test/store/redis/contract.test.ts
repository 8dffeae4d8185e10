import { describe, inject } from 'vitest';
import { parseDsn } from '../../../src/store/open/dsn.ts';
import { newPostgresDsn, newRedisDsn } from '../../servers/dsn.ts';
import { cacheStoreContract, sharedListsContract } from '../contract/cache-store.ts';
import { sharedUnderTest } from './under-test.ts';

describe.skipIf(inject('redisUrl') === '')('over Redis', () => {
  cacheStoreContract(
    'Redis',
    sharedUnderTest(() => parseDsn(newRedisDsn())),
  );
  sharedListsContract('Redis', () => parseDsn(newRedisDsn()));
});

describe.skipIf(inject('postgresUrl') === '')('over PostgreSQL', () => {
  cacheStoreContract(
    'PostgreSQL',
    sharedUnderTest(() => parseDsn(newPostgresDsn())),
  );
  sharedListsContract('PostgreSQL', () => parseDsn(newPostgresDsn()));
});
