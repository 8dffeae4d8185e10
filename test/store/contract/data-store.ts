import { describe } from 'vitest';
import { changes } from './changes.ts';
import { feedbackRules } from './feedback.ts';
import { journals } from './journals.ts';
import { lifetime } from './lifetime.ts';
import { pages } from './pages.ts';
import { repeats } from './repeats.ts';
import { sequences } from './sequences.ts';
import type { StoreUnderTest } from './under-test.ts';
import { usersAndItems } from './users-and-items.ts';
import { values } from './values.ts';
import { vectors } from './vectors.ts';

export { rows } from './rows.ts';
export type { StoreUnderTest } from './under-test.ts';

/**
 * What every data store must do, whatever its engine. An engine's test file calls this with how it is opened, and `rows`
 * too if it offers reads by row.
 */
export function dataStoreContract(name: string, store: StoreUnderTest): void {
  describe(`data store: ${name}`, () => {
    usersAndItems(store);
    feedbackRules(store);
    values(store);
    repeats(store);
    pages(store);
    changes(store);
    journals(store);
    vectors(store);
    lifetime(store);
    sequences(store);
  });
}
