import { ImpressionBodiesSchema, ImpressionsSchema } from '../../domain/api-schemas.ts';
import { decodeImpressions } from '../../domain/decode-bodies.ts';
import { jsonList, jsonRows } from '../route/list-reply.ts';
import { json } from '../route/reply.ts';
import { type Route, routesOf } from '../route/route.ts';
import { IMPRESSION } from './examples.ts';
import { written } from './write.ts';

const route = routesOf('Impressions');
const impressions = { description: 'By time', schema: ImpressionsSchema };

export const impressionRoutes: readonly Route[] = [
  route('POST', '/api/impressions', {
    needsNoModel: true,
    summary: 'Tell what users have seen of the lists of placements',
    description:
      'An extension of furze. The answer comes once all is durable; one bad record and nothing is stored. Kept for ' +
      '`[attribution] retention_days`, and for as long as `max_mb` has room.',
    body: { schema: ImpressionBodiesSchema, example: [IMPRESSION] },
    response: { ...written, description: 'Impressions stored: those of which an item is known' },
    errors: ['BATCH_TOO_LARGE'],
    async handler({ body }, { impressions, limits, clock }) {
      const given = decodeImpressions(body, limits, clock());
      return json({ RowAffected: await impressions.add(given) });
    },
  }),
  route('GET', '/api/impressions', {
    needsNoModel: true,
    summary: 'All that users were shown and what came of it by name, user by user',
    response: impressions,
    handler: (_request, { impressions }) => jsonList(impressions.walk()),
  }),
  route('GET', '/api/user/{user-id}/impressions', {
    needsNoModel: true,
    summary: 'What a user was shown, and the feedback that names the list it came of',
    response: impressions,
    handler: async ({ params }, { impressions }) => jsonRows(await impressions.ofUser(params['user-id'])),
  }),
];
