import type { Registry } from 'prom-client';
import type { FeedbackType, Model, Task } from '../../domain/admin-schemas.ts';
import { gauge } from './gauge.ts';

export interface LearningFacts {
  /** The last fit that ended by itself, well or not. */
  readonly lastFit: Task | undefined;
  /** The model that serves. */
  readonly model: Model | undefined;
  readonly feedbackTypes: readonly FeedbackType[];
  /** Users with feedback since their list was made. */
  readonly staleLists: number;
}

/** Feedback types that get a series of their own; the others, those with the least feedback, share one. */
const TYPES_MAX = 50;

/** The last fit, the model that serves, what it has to learn from and what it has not caught up with. */
export function registerModel(registry: Registry, facts: () => LearningFacts): void {
  const fact = (name: string, help: string, value: (facts: LearningFacts) => number | undefined) =>
    gauge(registry, name, help, () => value(facts()));
  fact('furze_last_fit_success', '1 when the last fit ended well, 0 when it failed', ({ lastFit }) =>
    lastFit === undefined ? undefined : Number(lastFit.State === 'done'),
  );
  fact('furze_last_fit_timestamp_seconds', 'End of the last fit since the Unix epoch', ({ lastFit }) =>
    lastFit?.EndedAt === undefined ? undefined : Date.parse(lastFit.EndedAt) / 1000,
  );
  fact('furze_last_fit_duration_seconds', 'How long the last fit took', ({ lastFit }) => lastFit?.Seconds);
  fact(
    'furze_model_age_seconds',
    'Time since the model that serves was fitted',
    ({ model }) => model?.AgeSeconds,
  );
  fact(
    'furze_model_generation',
    'Number of the generation that serves, 0 for none',
    ({ model }) => model?.Generation ?? 0,
  );
  fact('furze_lists_behind', 'Users with feedback since their list was made', ({ staleLists }) => staleLists);
  gauge(
    registry,
    'furze_model_quality',
    'Measures of the model that serves, on held-out feedback',
    () => Object.entries(facts().model?.Quality ?? {}).map(([measure, value]) => [{ measure }, value]),
    ['measure'],
  );
  gauge(
    registry,
    'furze_ranking_quality',
    'NDCG@10 on held-out feedback of each way to rank that was judged; "chosen" is the one that ranks',
    () => qualityOfWays(facts().model?.Choice),
    ['way', 'chosen'],
  );
  gauge(
    registry,
    'furze_feedback',
    'Feedback by type; "positive" and "read" tell whether it counts as such',
    () => countsOfTypes(facts().feedbackTypes),
    ['type', 'positive', 'read'],
  );
}

function qualityOfWays(choice: Model['Choice']) {
  return (choice?.Ways ?? []).map(
    ({ Name, Quality }) => [{ way: Name, chosen: String(Name === choice?.Chosen) }, Quality.Mean] as const,
  );
}

function countsOfTypes(feedbackTypes: readonly FeedbackType[]) {
  const types = feedbackTypes.toSorted((a, b) => b.Count - a.Count);
  const counts = types
    .slice(0, TYPES_MAX)
    .map(
      ({ Name, Count, Positive, Read }) =>
        [{ type: Name, positive: String(Positive), read: String(Read) }, Count] as const,
    );
  const others = types.slice(TYPES_MAX).reduce((sum, { Count }) => sum + Count, 0);
  return others > 0 ? [...counts, [{ type: '', positive: 'false', read: 'false' }, others] as const] : counts;
}
