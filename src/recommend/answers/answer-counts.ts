import type { RecommenderName } from '../../domain/recommenders.ts';

/** Counts of personal answers since the start, by what made them. */
export class AnswerCounts {
  all = 0;
  /** Those of which no item comes from a list of the user's own. */
  withoutList = 0;
  /** Those in which each fallback has an item. */
  readonly filledBy: Partial<Record<RecommenderName, number>> = {};

  noteFilled(name: RecommenderName): void {
    this.filledBy[name] = (this.filledBy[name] ?? 0) + 1;
  }
}
