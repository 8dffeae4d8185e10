import type { Config } from './schema.ts';

/** The name that stands for no space. */
export const NO_SPACE = 'none';

/**
 * The vector space that lists go by: the one that is named, or else the only one that is compared by cosine; undefined for
 * none.
 */
export function listSpace({ recommend, vectors }: Pick<Config, 'recommend' | 'vectors'>): string | undefined {
  if (recommend.vector_space === NO_SPACE) return undefined;
  if (recommend.vector_space !== '') return recommend.vector_space;
  const [name, another] = Object.keys(vectors).filter((space) => vectors[space]!.similarity === 'cosine');
  return another === undefined ? name : undefined;
}
