import { type Static, Type } from 'typebox';
import { DIMENSIONS_MAX, SIMILARITIES, VECTOR_SOURCES } from '../domain/vector-space.ts';
import { choice, integer } from './schema-types.ts';

const space = Type.Object({
  dimensions: integer(384, 1, DIMENSIONS_MAX, 'Numbers in each vector.'),
  similarity: choice(
    'cosine',
    SIMILARITIES,
    'How two vectors are compared: "cosine" by their angle, "dot" by their inner product, "euclidean" by their distance.',
  ),
  source: Type.Optional(
    choice(
      'given',
      VECTOR_SOURCES,
      'Where vectors come from: "given" from those who write them, "text" from the comments, labels and categories of items, of which the service makes them; 256 dimensions will do then.',
    ),
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
