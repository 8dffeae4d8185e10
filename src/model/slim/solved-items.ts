import type { Interactions } from '../../dataset/interactions.ts';
import { additionsOf } from '../part/sample-users-to-fit-memory.ts';
import { COUNTED_ITEMS_MAX } from './memory-layout.ts';
import type { SlimSettings } from './settings.ts';

/** Items that weights are learned for, the most popular ones: a million flops each, some minutes of one thread for all. */
export const SOLVED_ITEMS_MAX = 300_000;
/** Likes that may be looked at for the rare ones among the items' neighbors: a quarter of an hour of one thread. */
export const LIKES_READ_MAX = 5e10;
/** Users of an item are told apart up to this number. */
const USERS_MAX = 65_535;

/**
 * How many items weights are learned for, the most popular ones. Beside its flops each costs a walk over what those like who
 * like its rare neighbors: at most neighborhood * users of a rare item * likes of such a user, both as they are on average.
 * @param interactions everybody's likes
 * @param share of the users that is learned from, above 0 to 1
 */
export function solvedItems(
  interactions: Pick<Interactions, 'byUser' | 'byItem' | 'itemCount' | 'count'>,
  { neighborhood }: SlimSettings,
  share: number,
  likesReadMax = LIKES_READ_MAX,
  countedItems = COUNTED_ITEMS_MAX,
): number {
  const { byUser, byItem, itemCount, count } = interactions;
  if (itemCount <= countedItems) return itemCount;
  const usersOfRare = usersBelow(byItem.indptr, itemCount, countedItems) / (itemCount - countedItems);
  const likesRead = neighborhood * usersOfRare * share * (additionsOf(byUser) / Math.max(1, count));
  const ofTime = Math.floor(likesReadMax / Math.max(1, likesRead));
  return Math.min(itemCount, SOLVED_ITEMS_MAX, Math.max(countedItems, ofTime));
}

/** The users of all items but the `most` most popular ones, without sorting these. */
function usersBelow(itemStarts: Uint32Array, itemCount: number, most: number): number {
  const items = new Uint32Array(USERS_MAX + 1);
  for (let item = 0; item < itemCount; item++)
    items[Math.min(USERS_MAX, itemStarts[item + 1]! - itemStarts[item]!)]!++;
  let sum = 0;
  let passed = 0;
  for (let users = USERS_MAX; users > 0; users--) {
    const of = items[users]!;
    sum += users * Math.min(of, Math.max(0, passed + of - most));
    passed += of;
  }
  return sum;
}
