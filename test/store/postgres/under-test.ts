import { join } from 'node:path';
import { inject } from 'vitest';
import { readPositiveKinds } from '../../../src/domain/positive-feedback-types.ts';
import type { DataStore } from '../../../src/store/data-store.ts';
import { type PostgresDsn, parseDsn } from '../../../src/store/dsn.ts';
import type { WriteRules } from '../../../src/store/lmdb/tables/writer-messages.ts';
import type { Stores } from '../../../src/store/open/open-store.ts';
import { prepareReplica } from '../../../src/store/postgres/replica-start.ts';
import { newPostgresDsn } from '../../servers/dsn.ts';
import type { StoreUnderTest } from '../contract/under-test.ts';
import { close, openIn, storeOptions, tempFolder } from '../helpers.ts';

/** False where there is no PostgreSQL; the set-up has said so. */
export const HAS_POSTGRES = inject('postgresUrl') !== '';

/** A schema that nobody else uses. */
export function newDsn(): PostgresDsn {
  return parseDsn(newPostgresDsn()) as PostgresDsn;
}

/** A store over PostgreSQL with its copy in `folder`. */
export async function openNode(
  sharedDatabase: PostgresDsn,
  folder: string,
  rules: Partial<WriteRules> = {},
  isPartial = false,
): Promise<Stores> {
  const { positiveFeedbackTypes } = storeOptions(folder, rules);
  const kinds = isPartial ? readPositiveKinds(positiveFeedbackTypes) : undefined;
  await prepareReplica(sharedDatabase, join(folder, 'data'), () => {}, kinds);
  return openIn(folder, { ...rules, sharedDatabase, isPartial });
}

/** PostgreSQL as the contracts open it: a schema and a folder each; a restart keeps both. */
export function postgresUnderTest(isPartial = false): StoreUnderTest {
  const nodes = new Map<DataStore, { dsn: PostgresDsn; folder: string; stores: Stores }>();
  const open = async (dsn: PostgresDsn, folder: string, rules?: Partial<WriteRules>) => {
    const stores = await openNode(dsn, folder, rules, isPartial);
    nodes.set(stores.data, { dsn, folder, stores });
    return stores.data;
  };
  return {
    open: (rules) => open(newDsn(), tempFolder(), rules),
    async reopen(data, rules) {
      const { dsn, folder, stores } = nodes.get(data)!;
      await close(stores);
      return open(dsn, folder, rules);
    },
  };
}
