import type { Config } from '../config/config.ts';
import { readTypesOf } from '../config/positive-feedback.ts';
import type { Clock } from '../domain/clock.ts';
import { readPositiveKinds } from '../domain/positive-feedback-types.ts';
import type { Recommendation } from '../recommend/start-recommendation.ts';
import type { DataStore } from '../store/data-store.ts';
import type { ShownLog } from '../store/shown-log.ts';
import { Impressions } from './impressions.ts';
import { PlacementReports } from './placement-reports.ts';

/** Most items that count as popular, and the most of them among all. */
const POPULAR_MAX = 100;
const POPULAR_SHARE = 0.1;

/** The log of what was shown, and the sums of what came of it. */
export interface Shown {
  readonly impressions: Impressions;
  readonly placementReports: PlacementReports;
}

export interface ShownParts {
  readonly shownLog: ShownLog;
  readonly data: DataStore;
  readonly recommendation: Pick<
    Recommendation,
    'tokens' | 'placementCounts' | 'reads' | 'seenLately' | 'pools' | 'recommender' | 'live' | 'rules'
  >;
  readonly clock: Clock;
  readonly elapsedMs: Clock;
  readonly onTrouble: (message: string, error: unknown) => void;
}

/** Begins to take in what is shown. */
export function startShown(
  config: Config,
  { shownLog: log, data, recommendation, clock, elapsedMs, onTrouble }: ShownParts,
): Shown {
  const { tokens, placementCounts: counts, reads, seenLately, pools, rules } = recommendation;
  const { recommender, live } = recommendation;
  const kinds = readPositiveKinds(config.recommend.data_source.positive_feedback_types);
  const typeOfKind = new Map(kinds.map(({ name, feedbackType }) => [name, feedbackType]));
  const readTypes = readTypesOf(config.recommend);
  const experiments = () => rules.current.experiment;
  const settings = { windowMs: config.attribution.window, experiments, readTypes, typeOfKind };
  const popularRows = async () => {
    const n = Math.min(POPULAR_MAX, Math.ceil(live.catalogue.itemCount * POPULAR_SHARE));
    const popular = await recommender.popular({ n, offset: 0, categories: [] });
    return new Set(popular.map(({ Id }) => reads.itemRow(Id)));
  };
  return {
    impressions: new Impressions({
      ...{ log, tokens, counts, reads, seenLately, pools },
      ...{ barrier: data.barrier, clock, elapsedMs, onTrouble },
    }),
    placementReports: new PlacementReports({ log, data, clock, popularRows, ...settings }),
  };
}
