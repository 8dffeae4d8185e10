import type { FeedbackColumns } from '../../store/data-store.ts';

/** Number of records of each feedback type, by type number. */
export class CountsByType {
  private readonly counts: number[] = [];

  /** Adds the records (`sign` 1) or takes them back (-1). */
  apply({ length, types }: FeedbackColumns, sign: 1 | -1): void {
    const { counts } = this;
    for (let at = 0; at < length; at++) {
      const type = types[at]!;
      counts[type] = (counts[type] ?? 0) + sign;
    }
  }

  /** Type numbers and their counts, to be saved. */
  save(): [type: number, count: number][] {
    return Object.entries(this.counts).map(([type, count]) => [Number(type), count]);
  }

  restore(saved: readonly (readonly [type: number, count: number])[]): void {
    this.counts.length = 0;
    for (const [type, count] of saved) this.counts[type] = count;
  }

  /**
   * Adds what another node has counted, whose types have other numbers.
   * @param numberOf the number here of a type there, below 0 for none
   * @returns false where there is none for a type that has records
   */
  add(counted: ReturnType<CountsByType['save']>, numberOf: (type: number) => number): boolean {
    const found = counted.filter(([, count]) => count !== 0);
    for (const [type, count] of found) {
      const number = numberOf(type);
      this.counts[number] = (this.counts[number] ?? 0) + count;
    }
    return found.every(([type]) => numberOf(type) >= 0);
  }

  /** Not below 0 while what was taken back is not counted yet. */
  of(type: number): number {
    return Math.max(0, this.counts[type] ?? 0);
  }
}
