import { type Static, Type } from 'typebox';
import { DIMENSIONS_MAX, SIMILARITIES } from '../domain/vector-space.ts';
import { choice, integer } from './schema-types.ts';

const space = Type.Object({
  dimensions: integer(384, 1, DIMENSIONS_MAX, 'Numbers in each vector.'),
  similarity: choice(
    'cosine',
    SIMILARITIES,
    'How two vectors are compared: "cosine" by their angle, "dot" by their inner product, "euclidean" by their distance.',
  ),
});

/** Tables by the name of a space. */
export const vectors = Type.Unsafe<Readonly<Record<string, Static<typeof space>>>>({
  type: 'object',
  additionalProperties: space,
  default: {},
  description:
    'Vectors of items that others have made of text, pictures or behavior, each kind a space of its own; see docs/vectors.md.',
});
