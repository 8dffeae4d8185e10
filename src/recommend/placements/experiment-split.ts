import { seededHash } from '../../domain/hash.ts';
import { sha256 } from '../../domain/sha256.ts';

/** Hexadecimal digits of an edition. */
const DIGITS = 12;
const WORDS = 2 ** 32;

/** A variant and its share of the users. */
export interface Share {
  readonly name: string;
  readonly share: number;
}

/**
 * Splits users among the variants of an experiment by a hash whose seed is the experiment's name: the same on every node and at
 * every time, and independent of how other experiments split them.
 */
export class ExperimentSplit {
  /** Of the hash that tells who takes part, and of the one that tells the variant. */
  private readonly seeds: readonly [number, number];
  private readonly traffic: number;
  private readonly variants: readonly Share[];

  /** @param traffic share of all users who take part @param variants with shares that sum up to 1 */
  constructor(name: string, traffic: number, variants: readonly Share[]) {
    const digest = Buffer.from(sha256(name, 'hex'), 'hex');
    this.seeds = [digest.readInt32LE(0), digest.readInt32LE(4)];
    this.traffic = traffic;
    this.variants = variants;
  }

  /** The name of the user's variant; `''` for one who takes no part. */
  variantOf(userId: string): string {
    const [partSeed, variantSeed] = this.seeds;
    if (this.traffic < 1 && seededHash(userId, partSeed) / WORDS >= this.traffic) return '';
    let point = seededHash(userId, variantSeed) / WORDS;
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
