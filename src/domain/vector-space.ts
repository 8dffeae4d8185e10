import { FurzeError } from './furze-error.ts';

/** Ways in which two vectors are compared; higher scores are better in each. */
export const SIMILARITIES = ['cosine', 'dot', 'euclidean'] as const;
export type Similarity = (typeof SIMILARITIES)[number];

/** The most numbers that a vector has. */
export const DIMENSIONS_MAX = 4096;

/** Vectors that are compared with each other, at most one an item. */
export interface VectorSpace {
  /** Numbers in each vector, 1 to `DIMENSIONS_MAX`. */
  readonly dimensions: number;
  readonly similarity: Similarity;
}

/** Spaces by name. */
export type VectorSpaces = Readonly<Record<string, VectorSpace>>;

/** The vector of an item as it is written and answered. */
export interface ItemVector {
  readonly ItemId: string;
  readonly Vector: Float32Array;
}

/** The space with a name. @throws FurzeError SPACE_NOT_FOUND */
export function spaceOf(spaces: VectorSpaces, name: string): VectorSpace {
  if (Object.hasOwn(spaces, name)) return spaces[name]!;
  throw new FurzeError('SPACE_NOT_FOUND', `There is no vector space ${JSON.stringify(name)}.`);
}

/** Numbers of 32 bits as short decimals that are read back as the same. */
export function shortNumbers(vector: Float32Array): number[] {
  return Array.from(vector, (number) => {
    // Most have at most so many digits, and printing them takes far longer.
    for (const digits of [1e7, 1e9]) {
      const short = Math.round(number * digits) / digits;
      if (Math.fround(short) === number) return short;
    }
    return Number(number.toPrecision(9));
  });
}
