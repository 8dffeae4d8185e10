import {
  ScoredEntriesSchema,
  VectorBodiesSchema,
  VectorBodySchema,
  VectorSchema,
  VectorsPageSchema,
} from '../../domain/api-schemas.ts';
import { decodeQueryVector } from '../../domain/decode-bodies.ts';
import { FurzeError, noSuchItem } from '../../domain/furze-error.ts';
import { shortNumbers, spaceOf } from '../../domain/vector-space.ts';
import { vectorPage } from '../../store/vector-pages.ts';
import { jsonRows } from '../route/list-reply.ts';
import { jsonPage, pageWish } from '../route/page-reply.ts';
import { json, type Reply } from '../route/reply.ts';
import { type Route, routesOf } from '../route/route.ts';
import type { Services } from '../route/services.ts';
import { SCORED, VECTOR } from './examples.ts';
import { nearQuery } from './lists.ts';
import { write, written } from './write.ts';

const route = routesOf('Vectors');
const path = '/api/item/{item-id}/vectors/{space}';

export const vectorRoutes: readonly Route[] = [
  route('PUT', path, {
    summary: "Write an item's vector in a space, or overwrite it",
    body: { schema: VectorBodySchema, example: { Vector: VECTOR.Vector } },
    response: written,
    errors: ['SPACE_NOT_FOUND', 'ITEM_NOT_FOUND'],
    handler: ({ params, body }, { data }) =>
      write(data, {
        kind: 'putVectors',
        space: params.space,
        itemId: params['item-id'],
        batch: { json: body, single: true },
      }),
  }),
  route('GET', path, {
    summary: "Get an item's vector in a space",
    response: { description: 'The vector', schema: VectorSchema, example: VECTOR },
    errors: ['SPACE_NOT_FOUND', 'ITEM_NOT_FOUND', 'VECTOR_NOT_FOUND'],
    handler: ({ params }, services) => vectorOf(params['item-id'], params.space, services),
  }),
  route('DELETE', path, {
    summary: "Delete an item's vector in a space",
    response: { ...written, description: 'Rows removed, 0 when there was no such vector' },
    errors: ['SPACE_NOT_FOUND'],
    handler: ({ params }, { data }) =>
      write(data, { kind: 'deleteVector', space: params.space, itemId: params['item-id'] }),
  }),
  route('GET', '/api/vectors/{space}', {
    summary: 'List the vectors of a space, a page at a time',
    query: ['n', 'cursor'],
    response: {
      description: 'A page',
      schema: VectorsPageSchema,
      example: { Cursor: '', Vectors: [VECTOR] },
    },
    errors: ['INVALID_CURSOR', 'SPACE_NOT_FOUND'],
    handler({ params, query }, { data, vectorSpaces, limits }) {
      const space = spaceOf(vectorSpaces, params.space);
      return jsonPage('Vectors', pageWish(query, limits), (n, cursor) =>
        vectorPage(data.local, params.space, space, n, cursor),
      );
    },
  }),
  route('POST', '/api/vectors/{space}', {
    summary: 'Write vectors of items in a space, or overwrite them',
    description:
      'One transaction: one bad record, or an item that does not exist, and nothing is stored. Of a repeated id the last record wins.',
    body: { schema: VectorBodiesSchema, example: [VECTOR] },
    response: written,
    errors: ['BATCH_TOO_LARGE', 'SPACE_NOT_FOUND', 'ITEM_NOT_FOUND'],
    handler: ({ params, body }, { data }) =>
      write(data, { kind: 'putVectors', space: params.space, batch: { json: body, single: false } }),
  }),
  route('POST', '/api/vectors/{space}/search', {
    reads: true,
    summary: 'Items whose vectors are most like one',
    description: 'Nothing is stored. Hidden items and those out of date are left out.',
    query: ['n', 'offset', 'category', 'user-id', 'exclude', 'label', 'not-label'],
    body: { schema: VectorBodySchema, example: { Vector: VECTOR.Vector } },
    response: { description: 'Entries, best first', schema: ScoredEntriesSchema, example: SCORED },
    errors: ['SPACE_NOT_FOUND'],
    async handler(request, { recommender, vectorSpaces, limits }) {
      const { space } = request.params;
      const vector = decodeQueryVector(request.body, spaceOf(vectorSpaces, space), limits);
      return jsonRows(
        await recommender.itemsNear(vector, space, nearQuery(request.query, undefined, request)),
      );
    },
  }),
];

/** @throws FurzeError SPACE_NOT_FOUND, ITEM_NOT_FOUND, VECTOR_NOT_FOUND */
function vectorOf(itemId: string, space: string, { data, vectorSpaces }: Services): Reply {
  const { dimensions } = spaceOf(vectorSpaces, space);
  const row = data.local.itemRow(itemId);
  if (row < 0) throw noSuchItem(itemId);
  const vector = data.local.vectorAt(row, space, dimensions);
  if (vector !== undefined) return json({ ItemId: itemId, Vector: shortNumbers(vector) });
  throw new FurzeError(
    'VECTOR_NOT_FOUND',
    `The item ${JSON.stringify(itemId)} has no vector of ${dimensions} numbers in the space ${JSON.stringify(space)}.`,
  );
}
