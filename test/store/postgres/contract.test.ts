import { describe } from 'vitest';
import { dataStoreContract, rows } from '../contract/data-store.ts';
import { HAS_POSTGRES, postgresUnderTest } from './under-test.ts';

describe.skipIf(!HAS_POSTGRES)('over PostgreSQL', () => {
  const postgres = postgresUnderTest();
  dataStoreContract('PostgreSQL', postgres);
  rows(postgres);
  dataStoreContract('PostgreSQL, with a copy of items alone', postgresUnderTest(true));
});
