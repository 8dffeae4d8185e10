import { counted, groupDigits } from '../../../domain/group-digits.ts';

/** Faults named in full; the rest are counted. */
const NAMED_MAX = 20;

/** Findings of a check of a store. */
export interface Report {
  /** Folder of the store. */
  readonly path: string;
  /** Counts by name. */
  readonly counts: Readonly<Record<string, number>>;
  /** The first faults, each one sentence. */
  readonly faults: readonly string[];
  /** All faults. */
  readonly faultCount: number;
}

/** Collects the findings of a check. */
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
