import { counted, groupDigits } from '../../../domain/group-digits.ts';
import type { DataTables } from '../tables/data-tables.ts';
import type { StoreState } from '../tables/meta-table.ts';

/** Faults named in full; the rest are counted. */
const NAMED_MAX = 20;

export interface Report {
  readonly path: string;
  readonly counts: Readonly<Record<string, number>>;
  /** The first faults, each one sentence. */
  readonly faults: readonly string[];
  readonly faultCount: number;
}

export class Findings {
  readonly counts: Record<string, number> = {};
  private readonly named: string[] = [];
  private total = 0;

  fault(text: string): void {
    this.total++;
    if (this.named.length < NAMED_MAX) this.named.push(text);
  }

  /** Notes how many there are, and that another number was remembered. */
  count(name: string, found: number, remembered = found): void {
    this.counts[name] = found;
    if (found !== remembered) {
      this.fault(`There are ${counted(found, name)}, but the store counted ${groupDigits(remembered)}.`);
    }
  }

  report(path: string): Report {
    return { path, counts: this.counts, faults: this.named, faultCount: this.total };
  }
}

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
