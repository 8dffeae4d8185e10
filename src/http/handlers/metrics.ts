import { type Route, routesOf } from '../route/route.ts';

const route = routesOf('Operation');

const TEXT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export const metricsRoutes: readonly Route[] = [
  route('GET', '/metrics', {
    summary: 'Metrics in Prometheus text format',
    bearer: true,
    needsNoModel: true,
    response: { description: 'Prometheus text', contentType: TEXT_TYPE },
    async handler(_request, { metricsText }) {
      return { status: 200, contentType: TEXT_TYPE, body: await metricsText() };
    },
  }),
];
