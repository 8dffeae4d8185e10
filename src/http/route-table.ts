import type { Limits } from '../domain/request-limits.ts';
import { adminRoutes } from './handlers/admin.ts';
import { dashboardRoutes } from './handlers/dashboard.ts';
import { docsRoutes } from './handlers/docs.ts';
import { feedbackRoutes } from './handlers/feedback.ts';
import { healthRoutes, metricsRoutes } from './handlers/health.ts';
import { impressionRoutes } from './handlers/impressions.ts';
import { itemRoutes } from './handlers/items.ts';
import { listRoutes } from './handlers/lists.ts';
import { modelRoutes } from './handlers/models.ts';
import { placementRoutes } from './handlers/placements.ts';
import { recommendRoutes } from './handlers/recommend.ts';
import { ruleRoutes } from './handlers/rules.ts';
import { userRoutes } from './handlers/users.ts';
import { vectorRoutes } from './handlers/vectors.ts';
import { buildOpenApi } from './openapi/openapi.ts';
import type { Route } from './route/route.ts';

/**
 * The one route table.
 * @param version the package's version, for the OpenAPI document
 * @param limits what callers may ask for, for the same
 */
export function createRoutes(version: string, limits: Limits): readonly Route[] {
  const routes: Route[] = [
    ...userRoutes,
    ...itemRoutes,
    ...vectorRoutes,
    ...modelRoutes,
    ...feedbackRoutes,
    ...impressionRoutes,
    ...listRoutes,
    ...recommendRoutes,
    ...healthRoutes,
    ...metricsRoutes,
    ...adminRoutes,
    ...placementRoutes,
    ...ruleRoutes,
    ...dashboardRoutes(),
    ...docsRoutes(() => buildOpenApi(routes, version, limits)),
  ];
  return routes;
}
