import { ImpressionBodiesSchema, ImpressionsSchema } from '../../domain/api-schemas.ts';
import { decodeImpressions } from '../../domain/decode-bodies.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import type { Impressions } from '../../shown/impressions.ts';
import { jsonList, jsonRows } from '../route/list-reply.ts';
import { json } from '../route/reply.ts';
import { type Route, routesOf } from '../route/route.ts';
import type { Services } from '../route/services.ts';
import { IMPRESSION } from './examples.ts';
import { written } from './write.ts';

const route = routesOf('Impressions');
const impressions = { description: 'By time', schema: ImpressionsSchema };

/** The routes of what users were shown. */
export const impressionRoutes: readonly Route[] = [
  route('POST', '/api/impressions', {
    needsNoModel: true,
    summary: 'Tell what users have seen of the lists of placements',
    description:
      'An extension of furze. The answer comes once all is durable; one bad record and nothing is stored. Kept for ' +
      '`[attribution] retention_days`, and for as long as `max_mb` has room.',
    body: { schema: ImpressionBodiesSchema, example: [IMPRESSION] },
    response: { ...written, description: 'Impressions stored: those of which an item is known' },
    errors: ['BATCH_TOO_LARGE', 'BAD_REQUEST'],
    async handler({ body }, services) {
      const given = decodeImpressions(body, services.limits, services.clock());
      return json({ RowAffected: await kept(services).add(given) });
    },
  }),
  route('GET', '/api/impressions', {
    needsNoModel: true,
    summary: 'All that users were shown and what came of it by name, user by user',
    response: impressions,
    errors: ['BAD_REQUEST'],
    handler: (_request, services) => jsonList(kept(services).walk()),
  }),
  route('GET', '/api/user/{user-id}/impressions', {
    needsNoModel: true,
    summary: 'What a user was shown, and the feedback that names the list it came of',
    response: impressions,
    errors: ['BAD_REQUEST'],
    handler: async ({ params }, services) => jsonRows(await kept(services).ofUser(params['user-id'])),
  }),
];

/** @throws FurzeError BAD_REQUEST where nothing is kept */
function kept({ impressions }: Services): Impressions {
  if (impressions !== undefined) return impressions;
  throw new FurzeError('BAD_REQUEST', 'No placement is configured, so there is no list to tell of.');
}
