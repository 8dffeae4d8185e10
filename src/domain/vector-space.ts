import { FurzeError } from './furze-error.ts';

/** Ways in which two vectors are compared; higher scores are better in each. */
export const SIMILARITIES = ['cosine', 'dot', 'euclidean'] as const;
export type Similarity = (typeof SIMILARITIES)[number];

export const VECTOR_SOURCES = ['given', 'text'] as const;
export type VectorSource = (typeof VECTOR_SOURCES)[number];

export const DIMENSIONS_MAX = 4096;

/** Vectors that are compared with each other, at most one an item. */
export interface VectorSpace {
  /** Numbers in each vector, 1 to `DIMENSIONS_MAX`. */
  readonly dimensions: number;
  readonly similarity: Similarity;
  /** The maker of the vectors: others, or this service of the texts of items. Given when absent. */
  readonly source?: VectorSource;
}

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

/** The same for who writes into it. @throws FurzeError SPACE_NOT_FOUND, INVALID_PARAMETER for one that makes its vectors itself */
export function givenSpaceOf(spaces: VectorSpaces, name: string): VectorSpace {
  const space = spaceOf(spaces, name);
  if (space.source !== 'text') return space;
  const message = `is the space ${JSON.stringify(name)}, whose vectors are made of texts and not written`;
  throw new FurzeError('INVALID_PARAMETER', `space ${message}.`, [{ path: 'space', message }]);
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
