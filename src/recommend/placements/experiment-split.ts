import { createHash } from 'node:crypto';

const WORD = 2 ** 48;

/** A variant and its share of the users. */
export interface Share {
  readonly name: string;
  readonly share: number;
}

/**
 * Splits users among the variants of an experiment by a hash that has the experiment's name as its salt: the same on every node and at
 * every time, and independent of how other experiments split them.
 */
export class ExperimentSplit {
  private readonly name: string;
  private readonly traffic: number;
  private readonly variants: readonly Share[];

  /** @param traffic share of all users who take part @param variants with shares that sum up to 1 */
  constructor(name: string, traffic: number, variants: readonly Share[]) {
    this.name = name;
    this.traffic = traffic;
    this.variants = variants;
  }

  /** The name of the user's variant; `''` for one who takes no part. */
  variantOf(userId: string): string {
    const bytes = createHash('sha256').update(`${this.name}\n${userId}`).digest();
    if (bytes.readUIntBE(0, 6) / WORD >= this.traffic) return '';
    let point = bytes.readUIntBE(6, 6) / WORD;
    for (const { name, share } of this.variants) {
      point -= share;
      if (point < 0) return name;
    }
    return this.variants.at(-1)?.name ?? '';
  }
}
