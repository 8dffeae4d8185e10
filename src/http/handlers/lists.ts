import { ScoredEntriesSchema } from '../../domain/api-schemas.ts';
import type { ListQuery, NearQuery } from '../../recommend/sources/recommender.ts';
import type { Caller } from '../../recommend/sources/source.ts';
import { jsonRows } from '../route/list-reply.ts';
import { type Query, refusal } from '../route/query-parameters.ts';
import { type Reply, SOURCE_HEADERS, sourceHeaders } from '../route/reply.ts';
import { type Route, type RouteRequest, routesOf } from '../route/route.ts';
import type { Services } from '../route/services.ts';
import { SCORED } from './examples.ts';

const route = routesOf('Lists');
/** Parameters of items like an item. */
const likeItem = {
  query: ['n', 'offset', 'category', 'placement', 'by', 'user-id', 'exclude', 'label', 'not-label'],
  description:
    'With `by`, an extension of furze, by their vectors in a space; `exclude`, `label` and `not-label` hold then alone. With ' +
    '`placement` by the rules of a placement, and of its kind; `user-id` says for whom.',
  errors: ['SPACE_NOT_FOUND', 'PLACEMENT_NOT_FOUND'],
} as const;
const scored = { description: 'Entries, best first', schema: ScoredEntriesSchema, example: SCORED };

export const listRoutes: readonly Route[] = [
  ...globalList('latest', 'Items by Timestamp, newest first; the score is in Unix seconds'),
  ...globalList('popular', 'Items by positive feedback in the window; the score is their number'),
  route('GET', '/api/item/{item-id}/neighbors', {
    summary: 'Items like an item',
    ...likeItem,
    response: scored,
    handler: itemNeighbors,
  }),
  route('GET', '/api/item/{item-id}/neighbors/{category}', {
    summary: 'Items of a category like an item',
    ...likeItem,
    response: scored,
    handler: itemNeighbors,
  }),
  route('GET', '/api/user/{user-id}/neighbors', {
    summary: 'Users like a user',
    query: ['n', 'offset'],
    response: scored,
    async handler(request, { recommender }) {
      const asked = listQuery(request.query, undefined, request);
      return jsonRows(await recommender.userNeighbors(request.params['user-id'], asked));
    },
  }),
];

function itemNeighbors(
  request: RouteRequest<{ readonly 'item-id': string; readonly category?: string }>,
  { recommender }: Services,
): Promise<Reply> | Reply {
  const { params, query } = request;
  if (query.by !== undefined && query.placement !== undefined)
    throw refusal('placement', 'must not be given with by, whose answer goes by no rules');
  if (query.by !== undefined)
    return recommender
      .itemsLike(params['item-id'], query.by, nearQuery(query, params.category, request))
      .then(jsonRows);
  const found = recommender.itemNeighbors(params['item-id'], listQuery(query, params.category, request));
  return found instanceof Promise ? found.then(jsonRows) : jsonRows(found);
}

/** A list and its version by category. */
function globalList<Name extends 'latest' | 'popular'>(name: Name, summary: string): Route[] {
  const common = {
    summary,
    query: ['n', 'offset', 'user-id', 'category'],
    response: { ...scored, headers: SOURCE_HEADERS },
  } as const;
  const ask = async ({ params, query }: RouteRequest<{ readonly category?: string }>, services: Services) => {
    const entries = await services.recommender[name](listQuery(query, params.category));
    const source = entries.length === 0 ? 'none' : name;
    return { ...(await jsonRows(entries)), headers: sourceHeaders(source) };
  };
  return [
    route('GET', `/api/${name}` as '/api/list', {
      ...common,
      handler: ask,
    }),
    route('GET', `/api/${name}/{category}` as '/api/list/{category}', {
      ...common,
      summary: `${summary}, of one category`,
      handler: ask,
    }),
  ];
}

/** The part of a query that a list is asked with; a category of the path goes before those of the query. */
export function listQuery(query: Query, category?: string, caller?: Caller): ListQuery {
  return {
    n: query.n,
    offset: query.offset,
    categories: allCategories(query, category),
    placement: query.placement,
    discovery: query.discovery,
    caller,
    ...(query.userId !== undefined && { userId: query.userId }),
  };
}

/** The same of a search by vectors. */
export function nearQuery(query: Query, category: string | undefined, caller: Caller): NearQuery {
  const { excluded, labels, notLabels, boosts } = query;
  return { ...listQuery(query, category, caller), wishes: { excluded, labels, notLabels, boosts } };
}

export function allCategories(query: Query, category: string | undefined): readonly string[] {
  return category === undefined ? query.categories : [category, ...query.categories];
}
