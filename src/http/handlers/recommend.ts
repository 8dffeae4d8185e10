import Type from 'typebox';
import {
  DetailedListSchema,
  ExplanationSchema,
  ItemIdsSchema,
  ScoredEntriesSchema,
  SessionBodiesSchema,
} from '../../domain/api-schemas.ts';
import { decodeSession } from '../../domain/decode-bodies.ts';
import { ERRORS, FurzeError, noSuchItem } from '../../domain/furze-error.ts';
import { formatTimestamp } from '../../domain/rfc3339.ts';
import type { ItemWishes } from '../../recommend/catalogue/item-filter.ts';
import type { Answered, RecommendQuery } from '../../recommend/sources/recommender.ts';
import { jsonRows } from '../route/list-reply.ts';
import type { Query } from '../route/query-parameters.ts';
import {
  json,
  jsonWith,
  type Reply,
  SEED_HEADER,
  SOURCE_HEADERS,
  seedHeaders,
  sourceHeaders,
  TOKEN_HEADER,
} from '../route/reply.ts';
import { type Route, type RouteRequest, routesOf } from '../route/route.ts';
import type { Services } from '../route/services.ts';
import { EXPLANATION, FEEDBACK, SCORED } from './examples.ts';
import { allCategories, listQuery } from './lists.ts';

const route = routesOf('Recommendations');

/** Clients of Gorse 0.5 send this version and expect scored entries. */
const SCORED_VERSION = '2';

const personal = {
  description:
    'With write-back-type a feedback of that type is written for each item answered, which keeps a read type from ' +
    'being recommended again. An unknown user gets the fall-back list. With `X-API-Version: 2` the answer is scored ' +
    'entries in place of ids. An extension of furze: exclude, label, not-label and boost narrow and order over the whole ' +
    'catalog, with a list made for the question.',
  versioned: true,
  query: [
    'n',
    'offset',
    'category',
    'exclude',
    'label',
    'not-label',
    'boost',
    'placement',
    'item',
    'discovery',
    'details',
    'write-back-type',
    'write-back-delay',
  ],
  response: {
    description: 'Item ids, best first',
    schema: Type.Union([ItemIdsSchema, DetailedListSchema]),
    example: ['film-1', 'film-2'],
    headers: {
      [TOKEN_HEADER]:
        'With `placement`: a token for this user that tells the list later, when it is shown or clicked on',
      [SEED_HEADER]: 'With `placement`: the item that the list goes by, percent-encoded; absent for none',
      ...SOURCE_HEADERS,
    },
  },
  errors: ['PLACEMENT_NOT_FOUND'],
} as const;

const session = {
  reads: true,
  description:
    'Nothing is stored. Only the most recent records count; those of no positive type only exclude.',
  query: ['n', 'offset', 'category', 'placement', 'discovery'],
  body: { schema: SessionBodiesSchema, example: [FEEDBACK] },
  response: {
    description: 'Entries, best first',
    schema: ScoredEntriesSchema,
    example: SCORED,
    headers: SOURCE_HEADERS,
  },
  errors: ['BATCH_TOO_LARGE', 'PLACEMENT_NOT_FOUND'],
} as const;

export const recommendRoutes: readonly Route[] = [
  route('GET', '/api/recommend/{user-id}', {
    ...personal,
    summary: 'Items for a user',
    handler: recommend,
    early: recommendReady,
  }),
  route('GET', '/api/recommend/{user-id}/{category}', {
    ...personal,
    summary: 'Items of a category for a user',
    handler: recommend,
    early: recommendReady,
  }),
  route('GET', '/api/recommend/{user-id}/explain/{item-id}', {
    summary: 'Why an item is recommended to a user, or why not',
    description:
      'An extension of furze. Contributions is the exact decomposition of the collaborative score into what each of ' +
      "the user's own items adds. With n the item counts as recommended when it stands among the first n.",
    query: ['n', 'category'],
    response: { description: 'The explanation', schema: ExplanationSchema, example: EXPLANATION },
    errors: ['ITEM_NOT_FOUND'],
    async handler(request, { explainer }) {
      const { params, query } = request;
      const asked = { n: query.n, categories: allCategories(query, undefined), caller: request };
      const explanation = await explainer.explain(params['user-id'], params['item-id'], asked);
      if (explanation !== undefined) return json(explanation);
      throw noSuchItem(params['item-id']);
    },
  }),
  route('POST', '/api/session/recommend', {
    ...session,
    summary: 'Items for a session',
    handler: recommendSession,
  }),
  route('POST', '/api/session/recommend/{category}', {
    ...session,
    summary: 'Items of a category for a session',
    handler: recommendSession,
  }),
];

/** The parameters of a path for a user's recommendations. */
interface OfUser {
  readonly 'user-id': string;
  readonly category?: string;
}

/** Synchronous when the recommender is: the list that is already there needs no turn of the event loop. */
function recommend(request: RouteRequest<OfUser>, services: Services): Reply | Promise<Reply> {
  const { recommender } = services;
  const userId = request.params['user-id'];
  const query = askedBy(request);
  const { placement } = query;
  const startMs = placement === undefined ? 0 : performance.now();
  const answer = recommender.recommend(userId, query);
  if (!(answer instanceof Promise)) {
    if (placement === undefined) return answered(answer);
    const tookMs = answer.token === undefined ? performance.now() - startMs : 0;
    const token = recommender.tokenOf(userId, placement, answer, tookMs);
    return jsonWith(answer.text, [[TOKEN_HEADER, token], ...sourceHeaders(answer.source)]);
  }
  if (placement === undefined) return answer.then(answered);
  return answer.then(
    async (answered) => {
      const { text, source, seed } = answered;
      const token = recommender.tokenOf(userId, placement, answered, performance.now() - startMs);
      if (query.writeBackType !== undefined) await noteShown(userId, token, text, query.offset, services);
      return jsonWith(text, [[TOKEN_HEADER, token], ...sourceHeaders(source), ...seedHeaders(seed)]);
    },
    (error: unknown) => {
      const isOurs = !(error instanceof FurzeError) || ERRORS[error.code].status >= 500;
      const list = isOurs && !request.signal.aborted ? recommender.failed(userId, placement) : undefined;
      if (list !== undefined) services.impressions.noteFailed(userId, list);
      throw error;
    },
  );
}

type Entries = (string | { readonly Id: string })[];

/** Notes an answer that is written back as read: it was shown. */
async function noteShown(
  UserId: string,
  Recommendation: string,
  answer: string,
  offset: number,
  { impressions, clock }: Services,
): Promise<void> {
  const told = JSON.parse(answer) as Entries | { readonly Items: Entries };
  const entries = 'Items' in told ? told.Items : told;
  const Items = entries.map((entry) => (typeof entry === 'string' ? entry : entry.Id));
  const Places = Items.map((_, at) => offset + at + 1);
  const Timestamp = formatTimestamp(clock());
  if (Items.length > 0) await impressions.add([{ UserId, Recommendation, Items, Places, Timestamp }]);
}

function recommendReady(request: RouteRequest<OfUser>, { recommender }: Services): Reply | undefined {
  const answer = recommender.recommendReady(request.params['user-id'], askedBy(request));
  return answer && answered(answer);
}

function answered({ text, source }: Answered): Reply {
  return jsonWith(text, sourceHeaders(source));
}

function askedBy(request: RouteRequest<OfUser>): RecommendQuery {
  const { params, query, apiVersion } = request;
  return {
    n: query.n,
    offset: query.offset,
    categories: allCategories(query, params.category),
    wishes: wishesOf(query),
    placement: query.placement,
    item: query.item,
    details: query.details,
    discovery: query.discovery,
    writeBackType: query.writeBackType,
    writeBackDelayMs: query.writeBackDelayMs,
    scored: apiVersion === SCORED_VERSION,
    caller: request,
  };
}

/** Filters of the items beside their categories; undefined for none. */
function wishesOf({ excluded, labels, notLabels, boosts }: Query): ItemWishes | undefined {
  const count = excluded.length + labels.length + notLabels.length + boosts.length;
  return count === 0 ? undefined : { excluded, labels, notLabels, boosts };
}

async function recommendSession(
  request: RouteRequest<{ readonly category?: string }>,
  { recommender, clock, limits }: Services,
): Promise<Reply> {
  const feedback = decodeSession(request.body, limits, clock());
  const asked = listQuery(request.query, request.params.category, request);
  const { entries, source } = await recommender.session(feedback, asked);
  return { ...(await jsonRows(entries)), headers: sourceHeaders(source) };
}
