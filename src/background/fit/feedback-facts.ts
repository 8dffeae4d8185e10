import type { Config } from '../../config/config.ts';
import { positiveFeedback } from '../../config/positive-feedback.ts';
import type { FeedbackType } from '../../domain/admin-schemas.ts';
import type { FeedbackFacts } from '../../domain/feedback-troubles.ts';
import type { Recommendation } from '../../recommend/start-recommendation.ts';
import type { DataStore } from '../../store/data-store.ts';

/** Counts of the data as of now; 0 where the store does not answer. */
export async function feedbackFacts(
  { recommend }: Config,
  data: Pick<DataStore, 'getStats'>,
  recommendation: Pick<Recommendation, 'reads' | 'live' | 'rules'>,
): Promise<FeedbackFacts> {
  const types = feedbackTypes(recommend, recommendation);
  const stats = await data.getStats().catch(() => undefined);
  return {
    positiveTypes: positiveFeedback(recommend).positiveTypes,
    types,
    placedTypes: Object.values(recommendation.rules.current.placement).flatMap(({ begun, finished }) => [
      ...begun,
      ...finished,
    ]),
    items: stats?.items ?? 0,
    feedback: stats?.feedback ?? 0,
    positives: countPositives(types),
    isCounted: recommendation.live.isCounted,
    countError: recommendation.live.countError,
  };
}

export function feedbackTypes(
  recommend: Config['recommend'],
  { reads, live }: Pick<Recommendation, 'reads' | 'live'>,
): FeedbackType[] {
  const positive = positiveFeedback(recommend).positiveTypes;
  // Numbers of kinds that go by a value lie far behind those of the types, with nothing between.
  return Object.entries(reads.feedbackTypes()).map(([type, Name]) => ({
    Name,
    Count: live.countsByType.of(Number(type)),
    Positive: positive.includes(Name),
    Read: recommend.data_source.read_feedback_types.includes(Name),
  }));
}

export function countPositives(types: readonly FeedbackType[]): number {
  return types.reduce((sum, { Positive, Count }) => (Positive ? sum + Count : sum), 0);
}
