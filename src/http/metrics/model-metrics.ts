import { Gauge, type Registry } from 'prom-client';
import type { FeedbackType, Model, Task } from '../../domain/admin-schemas.ts';

/** What metrics show of learning. */
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
  const gauge = (name: string, help: string, value: (facts: LearningFacts) => number | undefined) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const known = value(facts());
        // A gauge that was never set tells 0, which is a value like another.
        this.remove();
        if (known !== undefined) this.set(known);
      },
    });
  gauge('furze_last_fit_success', '1 when the last fit ended well, 0 when it failed', ({ lastFit }) =>
    lastFit === undefined ? undefined : Number(lastFit.State === 'done'),
  );
  gauge('furze_last_fit_timestamp_seconds', 'End of the last fit since the Unix epoch', ({ lastFit }) =>
    lastFit?.EndedAt === undefined ? undefined : Date.parse(lastFit.EndedAt) / 1000,
  );
  gauge('furze_last_fit_duration_seconds', 'How long the last fit took', ({ lastFit }) => lastFit?.Seconds);
  gauge(
    'furze_model_age_seconds',
    'Time since the model that serves was fitted',
    ({ model }) => model?.AgeSeconds,
  );
  gauge(
    'furze_model_generation',
    'Number of the generation that serves, 0 for none',
    ({ model }) => model?.Generation ?? 0,
  );
  gauge(
    'furze_lists_behind',
    'Users with feedback since their list was made',
    ({ staleLists }) => staleLists,
  );
  registerQuality(registry, facts);
  registerFeedback(registry, facts);
}

/** What the model that serves and each way to rank were measured at. */
function registerQuality(registry: Registry, facts: () => LearningFacts): void {
  new Gauge({
    name: 'furze_model_quality',
    help: 'Measures of the model that serves, on held-out feedback',
    labelNames: ['measure'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [measure, value] of Object.entries(facts().model?.Quality ?? {}))
        this.set({ measure }, value);
    },
  });
  new Gauge({
    name: 'furze_ranking_quality',
    help: 'NDCG@10 on held-out feedback of each way to rank that was judged; "chosen" is the one that ranks',
    labelNames: ['way', 'chosen'],
    registers: [registry],
    collect() {
      this.reset();
      const choice = facts().model?.Choice;
      for (const { Name, Quality } of choice?.Ways ?? [])
        this.set({ way: Name, chosen: String(Name === choice?.Chosen) }, Quality.Mean);
    },
  });
}

function registerFeedback(registry: Registry, facts: () => LearningFacts): void {
  new Gauge({
    name: 'furze_feedback',
    help: 'Feedback by type; "positive" and "read" tell whether it counts as such',
    labelNames: ['type', 'positive', 'read'],
    registers: [registry],
    collect() {
      this.reset();
      const types = facts().feedbackTypes.toSorted((a, b) => b.Count - a.Count);
      for (const { Name, Count, Positive, Read } of types.slice(0, TYPES_MAX)) {
        this.set({ type: Name, positive: String(Positive), read: String(Read) }, Count);
      }
      const others = types.slice(TYPES_MAX).reduce((sum, { Count }) => sum + Count, 0);
      if (others > 0) this.set({ type: '', positive: 'false', read: 'false' }, others);
    },
  });
}
