import type { History } from '../history/history.ts';
import type { LikeSums, SumName } from '../models/like-sums.ts';
import type { ListInputs } from './list-inputs.ts';
import type { ListSettings } from './list-settings.ts';

/** Sources that the learned ranking wants proposed beside what the enabled recommenders propose. */
export interface RankingSources {
  /** Popularity scales whose first items are proposed. */
  readonly scales: readonly number[];
  readonly latest: boolean;
  /** Models to sum over the likes, whose first items are proposed. */
  readonly sums: readonly SumName[];
}

export interface Match {
  readonly inputs: ListInputs;
  readonly settings: ListSettings;
  readonly history: History;
  /** The user's kind; see `kindOf`. */
  readonly kind: number;
  /** The user's likes, latest first. */
  readonly liked: readonly number[];
  /** The user's vector in the collaborative model, undefined without one. */
  readonly vector: Float32Array | undefined;
  /** The items with the highest scores for it, where they were looked up for many users together. */
  readonly closest: ArrayLike<number> | undefined;
  /** Items that the likes speak for by the models that the ranking goes by. */
  readonly sums: LikeSums;
  readonly wanted: RankingSources;
  /** Items that the user has read, ascending. */
  readonly read: readonly number[];
  /** Bits of the rows that may stand in the list, and perhaps of some that `accept` refuses; undefined where nobody keeps them. */
  readonly allowed: Uint32Array | undefined;
  /** Items that may stand in the list. */
  readonly accept: (itemRow: number) => boolean;
  /** Items wanted of each list. */
  readonly k: number;
}

/**
 * A recommender as the making of a list asks it: at once, on any thread, with nothing but the inputs that lists are made
 * of. Where it is off it proposes nothing.
 */
export interface Matcher {
  /** Items best first, in lists of which each gives the first `k` that may stand in the list. */
  lists(match: Match): readonly ArrayLike<number>[];
  /** A test for an item that came after a list was made: whether this would have proposed it. */
  proposes(match: Match): (itemRow: number) => boolean;
}

/** A matcher that says what it proposes whatever it is asked about. */
export function matchLists(lists: Matcher['lists']): Matcher {
  return {
    lists,
    proposes(match) {
      const rows = new Set<number>();
      for (const list of lists(match)) for (let at = 0; at < list.length; at++) rows.add(list[at]!);
      return (row) => rows.has(row);
    },
  };
}
