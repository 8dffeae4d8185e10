import type { DataTables } from '../tables/data-tables.ts';
import type { StoreState } from '../tables/meta-table.ts';
import type { Findings } from './findings.ts';

/** State that the parts of a check share: who is there, and sums that must come out as zero. */
export interface Checked {
  readonly tables: DataTables;
  readonly findings: Findings;
  readonly state: StoreState;
  readonly typeCount: number;
  /** 1 for each row that has an entry. */
  readonly users: Uint8Array;
  readonly items: Uint8Array;
  /** Rows whose feedback is still being removed. */
  readonly goingUsers: ReadonlySet<number>;
  readonly goingItems: ReadonlySet<number>;
  /** By item row: the sum of a hash of each user with feedback on it, less that of each user in the item's list. */
  readonly itemSums: Int32Array;
  /** By type likewise. */
  readonly typeSums: Int32Array;
}
