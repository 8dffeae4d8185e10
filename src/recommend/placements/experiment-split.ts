import { sha256 } from '../../domain/sha256.ts';

/** Hexadecimal digits of a number, and how many numbers they tell apart. */
const DIGITS = 12;
const NUMBERS = 16 ** DIGITS;

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
    const digest = sha256(`${this.name}\n${userId}`, 'hex');
    const share = (from: number) => Number.parseInt(digest.slice(from, from + DIGITS), 16) / NUMBERS;
    if (share(0) >= this.traffic) return '';
    let point = share(DIGITS);
    for (const variant of this.variants) {
      point -= variant.share;
      if (point < 0) return variant.name;
    }
    return this.variants.at(-1)?.name ?? '';
  }
}

/**
 * Tells apart what an experiment was at different times: variants of the same names with other rules or shares are another experiment, and
 * so are those of another one. More `traffic` is not: each user keeps the variant.
 */
export function editionOf(
  name: string,
  { placement, method, variants }: { placement: string; method: string; variants: unknown },
): string {
  const digest = sha256(JSON.stringify([name, placement, method, variants]), 'hex');
  return Number.parseInt(digest.slice(0, DIGITS), 16).toString(36);
}
