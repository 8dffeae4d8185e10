interface Cap {
  /** 0 for as many as there are. */
  readonly most: number;
  readonly namesAt: (row: number) => readonly string[];
}

/** Counts of how many entries of an answer have one name. */
export class ShownCounts {
  private readonly caps: readonly (Cap & { readonly counts: Map<string, number> })[];

  constructor(caps: readonly Cap[]) {
    this.caps = caps.filter(({ most }) => most > 0).map((cap) => ({ ...cap, counts: new Map() }));
  }

  allows(row: number): boolean {
    return this.caps.every(({ most, namesAt, counts }) =>
      namesAt(row).every((name) => (counts.get(name) ?? 0) < most),
    );
  }

  note(row: number): void {
    for (const { namesAt, counts } of this.caps)
      for (const name of namesAt(row)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
}
