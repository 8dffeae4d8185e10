import { counted } from '../../domain/group-digits.ts';
import type { PopularityCounts } from '../popularity/popularity-counts.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Times that people have a feeling for, the shortest first. */
const SPANS: readonly (readonly [name: string, ms: number])[] = [
  ['an hour', HOUR_MS],
  ['12 hours', 12 * HOUR_MS],
  ['two days', 2 * DAY_MS],
  ['30 days', 30 * DAY_MS],
];
/** Spans that are told: the longest that are remembered whole. */
const SPANS_TOLD = 2;

/** Types of feedback that are purchases. */
const PURCHASE = /^(?:purchase|order|buy|bought|sale)/i;

/** The word for what people did to an item whom it pleased, where these types are positive. */
export function wordOfLikes(positiveTypes: readonly string[]): 'bought' | 'liked' {
  return positiveTypes.length > 0 && positiveTypes.every((type) => PURCHASE.test(type)) ? 'bought' : 'liked';
}

/** The popularity of an item in words: the people who liked it lately, by the time of the data, and all its likes. */
export function popularityInWords(popularity: PopularityCounts, itemRow: number, liked = 'liked'): string {
  const { asOfMs, recent } = popularity;
  const ever = popularity.ever[itemRow] ?? 0;
  if (ever === 0) return `${liked} by nobody yet`;
  const people = recent.peopleWhoLiked(
    itemRow,
    SPANS.map(([, ms]) => asOfMs - ms),
  );
  const known = SPANS.flatMap(([name], at) => {
    const count = people[at];
    const who = count === 0 ? 'nobody' : count === 1 ? '1 person' : counted(count ?? 0, 'people');
    return count === undefined ? [] : [{ count, words: `by ${who} in ${name}` }];
  }).slice(-SPANS_TOLD);
  // Of a long span that has nobody the shorter one says nothing more.
  const told = known.filter(({ count }, at) => count > 0 || at === known.length - 1);
  return `${liked} ${[...told.map(({ words }) => words), `${counted(ever, 'times')} in all`].join(', ')}`;
}

/**
 * The age of an item in words, by the time of the data.
 * @param sinceMs since when it is there, milliseconds since the epoch; NaN where nothing tells
 */
export function ageInWords(asOfMs: number, sinceMs: number): string {
  const ageMs = asOfMs - sinceMs;
  if (!Number.isFinite(ageMs)) return 'of no known age';
  if (ageMs < DAY_MS) return 'there for less than a day';
  return `there for ${counted(Math.floor(ageMs / DAY_MS), 'days')}`;
}
