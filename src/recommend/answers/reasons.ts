import { MODEL_FEATURES } from '../../model/registry.ts';
import { inTurns } from '../../platform/concurrency/event-loop-turns.ts';
import type { History } from '../history/history.ts';
import { OF_ITS_LABELS, type ScoreParts } from '../lists/maker/explain-score.ts';
import type { ListMaker } from '../lists/maker/list-maker.ts';
import { LABEL_SUM, LIVE_SUM, TASTE_SUM, VECTOR_SUM } from '../models/like-sums.ts';
import type { RecommendQuery } from '../sources/recommender.ts';
import type { InMemoryState } from '../state/in-memory-state.ts';
import { ageInWords, popularityInWords, wordOfLikes } from './item-words.ts';

/** Reasons for an item in a list, by what it comes from. */
const REASONS: Readonly<Record<string, string>> = {
  personal: 'the user is likely to like it',
  sequence: 'people go on to it after such items',
  pins: 'staff put it here',
  because: 'it is like an item that the user liked',
  similar: 'it is like the item',
  together: 'it is often bought together with the item',
  trending: 'it is liked more than before',
  continue: 'the user has begun it',
  again: 'the user buys it again and again',
  popular: 'many like it now',
  latest: 'it is new',
  collaborative: 'users of the same taste like it',
  item_based: 'it is like items that the user likes',
  user_based: 'users who like the same like it',
};

/** A reason in words, for people who look after a page. @param source as `sourceOf` names it */
export function reasonOf(source: string): string {
  return REASONS[source] ?? REASONS.personal!;
}

/** Features that are one thing to people: weights of several scales of popularity mean nothing alone. */
const GROUPS: readonly (readonly [name: string, has: (feature: string) => boolean])[] = [
  ['popularity', (feature) => feature.startsWith('popular_')],
  ['age', (feature) => feature === 'age' || feature === 'new_item'],
];

const OF_TASTE = 'liked by people of the same taste';
const WITH_LIKES = 'goes with what this customer likes';
const AFTER = 'what people go on to after such items';
/** The signals of the models, in words of a shop. */
const IN_SHORT: Readonly<Record<string, string>> = {
  ...{ collaborative: OF_TASTE, click_through: OF_TASTE, item_knn: WITH_LIKES, slim: WITH_LIKES },
  labels: 'like what this customer likes',
  ...{ sequence: AFTER, sequence_recent: AFTER },
};

/** What reasons are told by. */
export interface ReasonParts {
  readonly maker: ListMaker;
  readonly live: Pick<InMemoryState, 'popularity' | 'sinceMsAt' | 'positiveTypes'>;
}

/** Parts by what is one thing to people. */
export function groupsOf(parts: ScoreParts['parts']): Map<string, number> {
  const groups = new Map<string, number>();
  for (const [feature, score] of parts) {
    const name = GROUPS.find(([, has]) => has(feature))?.[0] ?? feature;
    groups.set(name, (groups.get(name) ?? 0) + score);
  }
  return groups;
}

/** Says in words what a group of features is about. */
export function meaningOf(name: string, itemRow: number, live: ReasonParts['live']): string {
  if (name === 'popularity')
    return popularityInWords(live.popularity, itemRow, wordOfLikes(live.positiveTypes));
  if (name === 'age') return ageInWords(live.popularity.asOfMs, live.sinceMsAt(itemRow));
  if (name === LIVE_SUM) return 'what people with the same likes have liked of late';
  if (name === TASTE_SUM) return 'liked by people of the same taste more than by anybody else';
  if (name === LABEL_SUM) return 'how much its labels are those of what the user likes';
  if (name === OF_ITS_LABELS) return 'what known items with its labels have';
  if (name === VECTOR_SUM) return 'how near its vector is to those of what the user likes';
  return MODEL_FEATURES.find((model) => model.name === name)?.feature.meaning ?? '';
}

/**
 * The largest part of the score of each of some items, in plain words, by row; in turns. No more are told than a list has, none
 * without a ranking, and none of an item that nothing speaks for.
 */
export async function mainReasons(
  { maker, live }: ReasonParts,
  history: History,
  itemRows: readonly number[],
  { discovery, caller }: Pick<RecommendQuery, 'discovery' | 'caller'>,
): Promise<ReadonlyMap<number, string>> {
  const reasons = new Map<number, string>();
  if (itemRows.length === 0) return reasons;
  const told = itemRows.slice(0, maker.listLength);
  const found = await inTurns(maker.turnedTo(discovery).featurePartsOf(history, told), caller?.signal);
  for (const [at, parts] of (found ?? []).entries()) {
    const [[name, score] = ['', 0]] = [...groupsOf(parts)].sort(([, a], [, b]) => b - a);
    if (score > 0) reasons.set(told[at]!, IN_SHORT[name] ?? meaningOf(name, told[at]!, live));
  }
  return reasons;
}
