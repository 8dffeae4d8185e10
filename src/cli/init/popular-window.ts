import { type Config, defaultConfig } from '../../config/config.ts';
import { getOrPut } from '../../domain/get-or-put.ts';
import { hashText, spreadBits } from '../../domain/hash.ts';
import { kindOf, readPositiveKinds } from '../../domain/positive-feedback-types.ts';
import { parseTimestamp } from '../../domain/rfc3339.ts';
import { estimate } from '../../model/evaluation/confidence-interval.ts';
import { storePaths } from '../../store/open/store-options.ts';

/** Windows that are tried beside the usual one, days. */
const WINDOWS_DAYS = [1 / 8, 1 / 2, 1, 3, 7, 14, 30, 90, 365];
const DAY_MS = 86_400_000;
/** The likes of the latest share of all are asked about. */
const ASKED_SHARE = 0.1;
/** So many newcomers tell enough; where fewer came, everybody is asked about. */
const NEWCOMERS_MIN = 100;
const LENGTH = 10;
/** Standard errors in the half width of an `Estimate`. */
const HALF_WIDTH_ERRORS = 1.96;
/** Likes that are looked at; of more, those of half of the users, and so on. */
const LIKES_MAX = 1_000_000;

/** A like in numbers that tell users and items apart. */
export type Like = readonly [user: number, item: number, timeMs: number];

/** A window by which the most popular items hold what people take next. */
export interface WindowChoice {
  readonly windowMs: number;
  /** Likes that were asked about. */
  readonly asked: number;
  /** Mean NDCG@10 by the window and by the usual one. */
  readonly quality: number;
  readonly usual: number;
}

/**
 * Replays the last tenth of the likes: the first of each person who came then is a question for the most popular items of that
 * moment, by windows of several lengths. Of those within one standard error of the best, the longest is the steadiest (Breiman
 * et al. 1984, the 1 SE rule).
 * @returns undefined where the usual window is level with the best, as the 95 % interval of the difference tells
 */
export function chooseWindow(likes: readonly Like[], usualMs: number): WindowChoice | undefined {
  const inOrder = [...likes].sort((a, b) => a[2] - b[2]);
  const known = new Set<number>();
  const isFirst = inOrder.map(([user]) => known.size < known.add(user).size);
  const from = Math.floor(inOrder.length * (1 - ASKED_SHARE));
  const isFewNew = isFirst.slice(from).filter(Boolean).length < NEWCOMERS_MIN;
  const isAsked = (at: number) => at >= from && (isFewNew || isFirst[at]!);
  const wayOf = (windowMs: number) => {
    const qualities = qualitiesOf(inOrder, isAsked, windowMs);
    return { windowMs, qualities, quality: estimate(qualities).mean };
  };
  const usual = wayOf(usualMs);
  const ways = WINDOWS_DAYS.map((days) => wayOf(days * DAY_MS));
  const best = [usual, ...ways].reduce((most, way) => (way.quality > most.quality ? way : most));
  const isBehind = ({ qualities }: typeof best, errors: number) => {
    const lead = estimate(best.qualities.map((quality, at) => quality - qualities[at]!));
    return lead.mean > (errors * lead.halfWidth) / HALF_WIDTH_ERRORS;
  };
  if (!isBehind(usual, HALF_WIDTH_ERRORS)) return undefined;
  const { windowMs, quality } = ways.findLast((way) => !isBehind(way, 1))!;
  return { windowMs, asked: usual.qualities.length, quality, usual: usual.quality };
}

/** NDCG@10 of each question; an item whose count others have too stands in all of their places alike. */
function qualitiesOf(likes: readonly Like[], isAsked: (at: number) => boolean, windowMs: number): number[] {
  const counts = new Map<number, number>();
  // The number of items with so many likes or more.
  const withAtLeast = [0];
  const qualities: number[] = [];
  let oldest = 0;
  likes.forEach(([, item, timeMs], at) => {
    for (; likes[oldest]![2] < timeMs - windowMs; oldest++) {
      const gone = likes[oldest]![1];
      const count = counts.get(gone)!;
      withAtLeast[count]!--;
      counts.set(gone, count - 1);
    }
    const count = counts.get(item) ?? 0;
    if (isAsked(at))
      qualities.push(count === 0 ? 0 : meanGain(withAtLeast[count + 1] ?? 0, withAtLeast[count]!));
    counts.set(item, count + 1);
    withAtLeast[count + 1] = (withAtLeast[count + 1] ?? 0) + 1;
  });
  return qualities;
}

/** The mean over the places from one to before another, counted from 0. */
function meanGain(from: number, to: number): number {
  let sum = 0;
  for (let place = from; place < Math.min(to, LENGTH); place++) sum += 1 / Math.log2(place + 2);
  return sum / (to - from);
}

/** Chooses the window by the likes in the folder of a configuration, which no service need run on. */
export async function chooseStoredWindow(config: Config): Promise<WindowChoice | undefined> {
  const { data_source } = config.recommend;
  // Loaded here, so that other commands load no engine.
  const { openReader } = await import('../../store/open/thread-stores.ts');
  const kinds = readPositiveKinds(data_source.positive_feedback_types);
  const reader = await openReader(storePaths(config).dataPath);
  try {
    let likes: Like[] = [];
    const items = new Map<string, number>();
    for (let cursor = '', mask = 0; ; ) {
      const page = await reader.getFeedbackPage(1000, cursor);
      for (const { FeedbackType, UserId, ItemId, Timestamp, Value = 0 } of page.rows) {
        const user = spreadBits(hashText(UserId)) >>> 0;
        if ((user & mask) !== 0 || kindOf(kinds, FeedbackType, Value) === undefined) continue;
        likes.push([user, getOrPut(items, ItemId, () => items.size), parseTimestamp(Timestamp)]);
      }
      if (likes.length > LIKES_MAX) {
        mask = mask * 2 + 1;
        likes = likes.filter(([user]) => (user & mask) === 0);
      }
      if ((cursor = page.cursor) === '') break;
    }
    return chooseWindow(likes, defaultConfig().recommend.popular.popular_window);
  } finally {
    await reader.close();
  }
}
