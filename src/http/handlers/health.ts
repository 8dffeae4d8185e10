import { HealthReportSchema } from '../../domain/api-schemas.ts';
import { RETRY_AFTER } from '../route/problem-details.ts';
import { json } from '../route/reply.ts';
import { type Route, routesOf } from '../route/route.ts';
import { HEALTH } from './examples.ts';

const route = routesOf('Health');

/** The two routes of health; neither needs a key. */
export const healthRoutes: readonly Route[] = [
  route('GET', '/api/health/live', {
    summary: 'Whether the process lives: always 200 once it listens',
    open: true,
    response: { description: 'The report', schema: HealthReportSchema, example: HEALTH },
    needsNoModel: true,
    handler: async (_request, { health }) => json(await health()),
  }),
  route('GET', '/api/health/ready', {
    summary: 'Whether requests can be handled: 503 until the stores answer',
    open: true,
    response: {
      description: 'The report of a service that is ready',
      schema: HealthReportSchema,
      example: HEALTH,
      also: { 503: 'The report of a service that is not ready' },
    },
    async handler(_request, { health }) {
      const report = await health();
      if (report.Ready) return json(report);
      return { ...json(report), status: 503, headers: [RETRY_AFTER] };
    },
  }),
];

const TEXT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export const metricsRoutes: readonly Route[] = [
  routesOf('Operation')('GET', '/metrics', {
    summary: 'Metrics in Prometheus text format',
    bearer: true,
    needsNoModel: true,
    response: { description: 'Prometheus text', contentType: TEXT_TYPE },
    async handler(_request, { metricsText }) {
      return { status: 200, contentType: TEXT_TYPE, body: await metricsText() };
    },
  }),
];
