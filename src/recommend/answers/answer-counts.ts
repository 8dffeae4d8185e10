import type { RecommenderName } from '../../domain/recommenders.ts';

/** Counts of personal answers since the start, by what made them. */
export class AnswerCounts {
  all = 0;
  /** Answers without an item of the user's own list. */
  withoutList = 0;
  /** Answers with an item of a fallback, by fallback. */
  readonly filledBy: Partial<Record<RecommenderName, number>> = {};

  noteFilled(name: RecommenderName): void {
    this.filledBy[name] = (this.filledBy[name] ?? 0) + 1;
  }
}
