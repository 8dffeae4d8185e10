import type { EvaluationRow, ReplayGroup, ReplayRow } from '../domain/evaluation-schemas.ts';

import { describeVariety } from './list-variety.ts';

/** The measure by which rows are compared. */
export const MAIN_METRIC = 'NDCG@10';

const ALL_TIME = 'all time';
const DAY_HOURS = 24;

/** A window of popularity in words. @param hours `null` for all there ever was */
export function showWindow(hours: number | null): string {
  if (hours === null) return ALL_TIME;
  return hours < 2 * DAY_HOURS ? `${hours} h` : `${hours / DAY_HOURS} days`;
}

/** Rows that the served lists are compared with. */
export interface Rivals {
  readonly served: EvaluationRow;
  /** The best of all other ways. */
  readonly first: EvaluationRow;
  /** The best of those that go by popularity alone. */
  readonly popular: EvaluationRow;
}

/** Finds the rows that the served lists have to beat; other configurations of the service are none. */
export function findRivals(rows: readonly EvaluationRow[]): Rivals {
  const served = rows.find(({ role }) => role === 'served')!;
  const others = rows.filter(({ role }) => role === 'alone' || role === 'reference');
  const popular = others.filter(
    ({ recommender, windowHours }) => recommender === 'popular' || windowHours !== undefined,
  );
  return { served, first: best(others), popular: best(popular) };
}

/**
 * The served lists against the best of the others, and against popularity, and how alike they are, in sentences.
 * @param catalog items that there are
 */
export function conclude(rows: readonly EvaluationRow[], catalog: number): string {
  const { served, first, popular } = findRivals(rows);
  const rivals = [compare(served, first, 'the best of the others')];
  if (first !== popular) rivals.push(compare(served, popular, 'popularity'));
  return [...rivals, describeVariety(served.variety, catalog)].join(' ');
}

/** The served lists of a replay beside the best of the simple ways that are alive. */
export interface ReplayVerdict {
  readonly served: ReplayRow;
  readonly best: ReplayRow;
  readonly outcome: 'ahead' | 'level' | 'behind' | 'too few';
}

/** The kind of questions of people of whom no like is known. */
export const NO_LIKES = 'no likes yet';
/** Fewer questions of a kind tell nothing. */
const QUESTIONS_MIN = 20;

/** Judges one kind of questions: ahead or behind where the difference is larger than its interval. */
export function judgeGroup({ questions, rows }: ReplayGroup): ReplayVerdict {
  const [served, ...others] = rows as [ReplayRow, ...ReplayRow[]];
  const best = others.reduce((one, other) => (other.ndcg.mean > one.ndcg.mean ? other : one), others[0]!);
  const { mean, halfWidth } = best.againstServed;
  const outcome = Math.abs(mean) <= halfWidth ? 'level' : mean < 0 ? 'ahead' : 'behind';
  return { served, best, outcome: questions < QUESTIONS_MIN ? 'too few' : outcome };
}

export function concludeReplay(groups: readonly ReplayGroup[]): string {
  const [all, ...kinds] = groups as [ReplayGroup, ...ReplayGroup[]];
  const { served, best, outcome } = judgeGroup(all);
  const words = {
    ahead: 'are ahead of',
    level: 'are level with',
    behind: 'are behind',
    'too few': 'were asked too seldom to be compared with',
  }[outcome];
  const behind = kinds.filter((kind) => judgeGroup(kind).outcome === 'behind').map(({ name }) => name);
  const figures = `${served.ndcg.mean.toFixed(3)} against ${best.ndcg.mean.toFixed(3)}`;
  const first = `The served lists ${words} the best simple way, ${best.name}: ${figures}.`;
  if (behind.length === 0) return first;
  const told = `${first} They are behind the best one for: ${behind.join(', ')}.`;
  if (!behind.includes(NO_LIKES)) return told;
  return `${told} Whom the service does not know is answered by [recommend.online] fallback_recommend, in which popular may come first; whom it was told of as a user, by what is popular now.`;
}

/** A row as it is told in a sentence. */
export function inWords({ name, windowHours }: EvaluationRow): string {
  if (windowHours === undefined) return name;
  return `the most popular items of ${windowHours === null ? '' : 'the last '}${showWindow(windowHours)}`;
}

function best(rows: readonly EvaluationRow[]): EvaluationRow {
  return rows.reduce((one, other) => (mainOf(other) > mainOf(one) ? other : one));
}

function mainOf({ metrics }: EvaluationRow): number {
  return metrics[MAIN_METRIC]?.mean ?? 0;
}

function compare(served: EvaluationRow, other: EvaluationRow, what: string): string {
  const { mean, halfWidth } = other.againstServed;
  const base = mainOf(other);
  const share = base > 0 ? `${Math.abs((100 * mean) / base).toFixed(0)} %` : mainOf(served).toFixed(4);
  const verb = mean <= 0 ? 'beat' : 'lose to';
  const noise = Math.abs(mean) > halfWidth ? 'which is more than the noise' : 'which is within the noise';
  return `Served lists ${verb} ${what}, ${inWords(other)}, by ${share}, ${noise}.`;
}
