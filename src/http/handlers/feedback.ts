import {
  FeedbackBodiesSchema,
  FeedbackListSchema,
  FeedbackPageSchema,
  FeedbackSchema,
} from '../../domain/api-schemas.ts';
import type { Feedback } from '../../domain/entities.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import type { DataStore } from '../../store/data-store.ts';
import { detailsOf } from '../../store/feedback-details.ts';
import { jsonList } from '../route/list-reply.ts';
import { jsonPage, pageWish } from '../route/page-reply.ts';
import type { Query } from '../route/query-parameters.ts';
import { json, jsonText, type Reply } from '../route/reply.ts';
import { type Route, type RouteRequest, routesOf } from '../route/route.ts';
import type { Services } from '../route/services.ts';
import { FEEDBACK } from './examples.ts';
import { written } from './write.ts';

const route = routesOf('Feedback');
const onePage = {
  query: ['n', 'cursor', 'details'],
  response: {
    description: 'A page',
    schema: FeedbackPageSchema,
    example: { Cursor: '', Feedback: [FEEDBACK] },
  },
  errors: ['INVALID_CURSOR'],
} as const;
const oneList = { description: 'The feedback', schema: FeedbackListSchema, example: [FEEDBACK] };
const allOf = { query: ['details'], response: oneList } as const;
const oneFeedback = { description: 'The feedback', schema: FeedbackSchema, example: FEEDBACK };

export const feedbackRoutes: readonly Route[] = [
  writeRoute('POST', false, 'Insert feedback; records that exist already stay as they are'),
  writeRoute('PUT', true, 'Insert feedback; records that exist already are overwritten'),
  route('GET', '/api/feedback', {
    ...onePage,
    summary: 'List feedback, a page at a time',
    handler: pageOf,
  }),
  route('GET', '/api/feedback/{feedback-type}', {
    ...onePage,
    summary: 'List feedback of one type, a page at a time',
    handler: pageOf,
  }),
  route('GET', '/api/feedback/{user-id}/{item-id}', {
    summary: 'Get the feedback of a user on an item, of every type',
    query: ['details'],
    response: oneList,
    async handler({ params, query }, { data }) {
      return json(told(await data.getPairFeedback(params['user-id'], params['item-id']), query, data));
    },
  }),
  route('DELETE', '/api/feedback/{user-id}/{item-id}', {
    summary: 'Delete the feedback of a user on an item, of every type',
    response: { ...oneList, description: 'The deleted feedback' },
    async handler({ params }, { data }) {
      const pair = { userId: params['user-id'], itemId: params['item-id'] };
      const { removed } = await data.write({ kind: 'deleteFeedback', feedbackType: undefined, ...pair });
      return json(removed);
    },
  }),
  route('GET', '/api/feedback/{feedback-type}/{user-id}/{item-id}', {
    summary: 'Get one feedback',
    query: ['details'],
    response: oneFeedback,
    errors: ['FEEDBACK_NOT_FOUND'],
    async handler({ params, query }, { data }) {
      const feedback = await data.getFeedback(params['feedback-type'], params['user-id'], params['item-id']);
      if (feedback === undefined) throw notFound();
      return json(told([feedback], query, data)[0]!);
    },
  }),
  route('DELETE', '/api/feedback/{feedback-type}/{user-id}/{item-id}', {
    summary: 'Delete one feedback',
    response: { ...oneFeedback, description: 'The deleted feedback' },
    errors: ['FEEDBACK_NOT_FOUND'],
    async handler({ params }, { data }) {
      const { removed } = await data.write({
        kind: 'deleteFeedback',
        feedbackType: params['feedback-type'],
        userId: params['user-id'],
        itemId: params['item-id'],
      });
      if (removed[0] === undefined) throw notFound();
      return json(removed[0]);
    },
  }),
  route('GET', '/api/user/{user-id}/feedback', {
    ...allOf,
    summary: 'Get the feedback of a user',
    handler: feedbackOfUser,
  }),
  route('GET', '/api/user/{user-id}/feedback/{feedback-type}', {
    ...allOf,
    summary: 'Get the feedback of a user, of one type',
    handler: feedbackOfUser,
  }),
  route('GET', '/api/item/{item-id}/feedback', {
    ...allOf,
    summary: 'Get the feedback on an item',
    handler: feedbackOnItem,
  }),
  route('GET', '/api/item/{item-id}/feedback/{feedback-type}', {
    ...allOf,
    summary: 'Get the feedback on an item, of one type',
    handler: feedbackOnItem,
  }),
];

function writeRoute(method: 'POST' | 'PUT', overwrite: boolean, summary: string): Route {
  return route(method, '/api/feedback', {
    summary,
    description:
      'One transaction: one bad record and nothing is stored. The answer comes once all is durable.',
    body: { schema: FeedbackBodiesSchema, example: [FEEDBACK] },
    response: written,
    errors: ['BATCH_TOO_LARGE'],
    async handler({ body }, { data, impressions }) {
      const { rowAffected, credited } = await data.write({
        kind: 'putFeedback',
        overwrite,
        batch: { json: body, single: false },
      });
      if (credited !== undefined) await impressions.credit(credited);
      return jsonText(`{"RowAffected":${rowAffected}}`);
    },
  });
}

/** Parameters of a path, of which the type may be absent. */
interface OfType {
  readonly 'feedback-type'?: string;
}

function pageOf({ params, query }: RouteRequest<OfType>, { data, limits }: Services): Promise<Reply> {
  return jsonPage('Feedback', pageWish(query, limits), async (n, cursor) => {
    const page = await data.getFeedbackPage(n, cursor, params['feedback-type']);
    return { ...page, rows: told(page.rows, query, data) };
  });
}

function feedbackOfUser(
  { params, query }: RouteRequest<OfType & { readonly 'user-id': string }>,
  { data }: Services,
): Promise<Reply> {
  const slices = data.walkUserFeedback(params['user-id'], params['feedback-type']);
  return jsonList(toldSlices(slices, query, data));
}

function feedbackOnItem(
  { params, query }: RouteRequest<OfType & { readonly 'item-id': string }>,
  { data }: Services,
): Promise<Reply> {
  const slices = data.walkItemFeedback(params['item-id'], params['feedback-type']);
  return jsonList(toldSlices(slices, query, data));
}

/** The rows as they are, or with how often each happened. */
function told(rows: Feedback[], { details }: Query, { local }: DataStore): Feedback[] {
  return details === true ? rows.map((row) => detailsOf(row, local)) : rows;
}

async function* toldSlices(
  slices: AsyncIterable<readonly Feedback[]>,
  query: Query,
  data: DataStore,
): AsyncGenerator<readonly Feedback[]> {
  for await (const rows of slices) yield told([...rows], query, data);
}

function notFound(): FurzeError {
  return new FurzeError(
    'FEEDBACK_NOT_FOUND',
    'There is no feedback of this type between this user and this item.',
  );
}
