import type { Admin } from '../../admin/admin.ts';
import type { Searcher } from '../../background/pool/finders.ts';
import type { HealthReport } from '../../domain/api-schemas.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Limits } from '../../domain/request-limits.ts';
import type { VectorSpaces } from '../../domain/vector-space.ts';
import type { Explainer } from '../../recommend/answers/explainer.ts';
import type { Recommender } from '../../recommend/sources/recommender.ts';
import type { Impressions } from '../../shown/impressions.ts';
import type { PlacementReports } from '../../shown/placement-reports.ts';
import type { DataStore } from '../../store/data-store.ts';
import type { EntityTexts } from './entity-texts.ts';

export interface Services {
  readonly data: DataStore;
  /** Users and items as text, where the store tells of every change. */
  readonly entityTexts: EntityTexts;
  readonly recommender: Recommender;
  readonly explainer: Explainer;
  readonly impressions: Impressions;
  readonly placementReports: PlacementReports;
  readonly admin: Admin;
  /** Ids of items that contain a text, best match first. */
  readonly searchItems: (text: string, n: number, by: Searcher) => Promise<readonly string[]>;
  /** The state of the stores; tells a failure in the report instead of throwing. */
  readonly health: () => Promise<HealthReport>;
  readonly metricsText: () => Promise<string>;
  readonly vectorSpaces: VectorSpaces;
  readonly clock: Clock;
  /** `n` of a list that was asked for without one. */
  readonly defaultN: number;
  readonly limits: Limits;
}
