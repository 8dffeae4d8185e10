import type { DataStore } from '../../../src/store/data-store.ts';
import type { WriteRules } from '../../../src/store/lmdb/tables/writer-messages.ts';

/** An implementation of the data store, as the contract's tests open it. They take the rules of `storeOptions`. */
export interface StoreUnderTest {
  /** An empty store on data of its own; closed, and its data removed, when the test ends. */
  open(rules?: Partial<WriteRules>): Promise<DataStore>;
  /** Closes a store and opens another one on the same data, as a restart does. */
  reopen(data: DataStore, rules?: Partial<WriteRules>): Promise<DataStore>;
}
