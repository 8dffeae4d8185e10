import {
  FeedbackBodiesSchema,
  FeedbackListSchema,
  FeedbackPageSchema,
  FeedbackSchema,
  WriteResultSchema,
} from '../../domain/api-schemas.ts';
import type { Feedback } from '../../domain/entities.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import type { DataStore } from '../../store/data-store.ts';
import { detailsOf } from '../../store/feedback-details.ts';
import { jsonList } from '../route/list-reply.ts';
import { jsonPage, pageWish } from '../route/page-reply.ts';
import type { Query } from '../route/query-parameters.ts';
import { json, jsonText } from '../route/reply.ts';
import { type Route, route } from '../route/route.ts';
import { FEEDBACK, WRITTEN } from './examples.ts';

const tag = 'Feedback';
const onePage = {
  description: 'A page',
  schema: FeedbackPageSchema,
  example: { Cursor: '', Feedback: [FEEDBACK] },
};
const oneList = { description: 'The feedback', schema: FeedbackListSchema, example: [FEEDBACK] };
const oneFeedback = { description: 'The feedback', schema: FeedbackSchema, example: FEEDBACK };

/** The twelve routes of feedback. */
export const feedbackRoutes: readonly Route[] = [
  writeRoute('POST', false, 'Insert feedback; records that exist already stay as they are'),
  writeRoute('PUT', true, 'Insert feedback; records that exist already are overwritten'),
  route({
    method: 'GET',
    path: '/api/feedback',
    tag,
    summary: 'List feedback, a page at a time',
    query: ['n', 'cursor', 'details'],
    response: onePage,
    errors: ['INVALID_CURSOR'],
    handler: ({ query }, { data, limits }) =>
      jsonPage('Feedback', pageWish(query, limits), async (n, cursor) => {
        const page = await data.getFeedbackPage(n, cursor);
        return { ...page, rows: told(page.rows, query, data) };
      }),
  }),
  route({
    method: 'GET',
    path: '/api/feedback/{feedback-type}',
    tag,
    summary: 'List feedback of one type, a page at a time',
    query: ['n', 'cursor', 'details'],
    response: onePage,
    errors: ['INVALID_CURSOR'],
    handler: ({ params, query }, { data, limits }) =>
      jsonPage('Feedback', pageWish(query, limits), async (n, cursor) => {
        const page = await data.getFeedbackPage(n, cursor, params['feedback-type']);
        return { ...page, rows: told(page.rows, query, data) };
      }),
  }),
  route({
    method: 'GET',
    path: '/api/feedback/{user-id}/{item-id}',
    tag,
    summary: 'Get the feedback of a user on an item, of every type',
    query: ['details'],
    response: oneList,
    async handler({ params, query }, { data }) {
      return json(told(await data.getPairFeedback(params['user-id'], params['item-id']), query, data));
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/feedback/{user-id}/{item-id}',
    tag,
    summary: 'Delete the feedback of a user on an item, of every type',
    response: { ...oneList, description: 'The deleted feedback' },
    async handler({ params }, { data }) {
      const pair = { userId: params['user-id'], itemId: params['item-id'] };
      const { removed } = await data.write({ kind: 'deleteFeedback', feedbackType: undefined, ...pair });
      return json(removed);
    },
  }),
  route({
    method: 'GET',
    path: '/api/feedback/{feedback-type}/{user-id}/{item-id}',
    tag,
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
  route({
    method: 'DELETE',
    path: '/api/feedback/{feedback-type}/{user-id}/{item-id}',
    tag,
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
  route({
    method: 'GET',
    path: '/api/user/{user-id}/feedback',
    tag,
    summary: 'Get the feedback of a user',
    query: ['details'],
    response: oneList,
    handler: ({ params, query }, { data }) =>
      jsonList(toldSlices(data.walkUserFeedback(params['user-id']), query, data)),
  }),
  route({
    method: 'GET',
    path: '/api/user/{user-id}/feedback/{feedback-type}',
    tag,
    summary: 'Get the feedback of a user, of one type',
    query: ['details'],
    response: oneList,
    handler: ({ params, query }, { data }) =>
      jsonList(toldSlices(data.walkUserFeedback(params['user-id'], params['feedback-type']), query, data)),
  }),
  route({
    method: 'GET',
    path: '/api/item/{item-id}/feedback',
    tag,
    summary: 'Get the feedback on an item',
    query: ['details'],
    response: oneList,
    handler: ({ params, query }, { data }) =>
      jsonList(toldSlices(data.walkItemFeedback(params['item-id']), query, data)),
  }),
  route({
    method: 'GET',
    path: '/api/item/{item-id}/feedback/{feedback-type}',
    tag,
    summary: 'Get the feedback on an item, of one type',
    query: ['details'],
    response: oneList,
    handler: ({ params, query }, { data }) =>
      jsonList(toldSlices(data.walkItemFeedback(params['item-id'], params['feedback-type']), query, data)),
  }),
];

function writeRoute(method: 'POST' | 'PUT', overwrite: boolean, summary: string): Route {
  return route({
    method,
    path: '/api/feedback',
    tag,
    summary,
    description:
      'One transaction: one bad record and nothing is stored. The answer comes once all is durable.',
    body: { schema: FeedbackBodiesSchema, example: [FEEDBACK] },
    response: { description: 'Rows written', schema: WriteResultSchema, example: WRITTEN },
    errors: ['BATCH_TOO_LARGE'],
    async handler({ body }, { data, impressions }) {
      const { rowAffected, credited } = await data.write({
        kind: 'putFeedback',
        overwrite,
        batch: { json: body, single: false },
      });
      if (credited !== undefined) await impressions?.credit(credited);
      return jsonText(`{"RowAffected":${rowAffected}}`);
    },
  });
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
