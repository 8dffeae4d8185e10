import type { ScoreDecomposition } from '../../model/als/score-decomposition.ts';
import type { RowSums } from '../../model/neighbors/kernel-row-sums.ts';
import type { Rows } from '../catalogue/row-postings.ts';
import type { Ranked } from '../rows/ranked-rows.ts';
import type { Ranking } from './feature-names.ts';

/** The collaborative model as serving needs it. */
export interface CollaborativeModel {
  /** The user's vector solved from its liked items against the current item factors; undefined when none of them is in the model. */
  foldIn(likedItemRows: readonly number[]): Float32Array | undefined;
  /** The item's score as the sum of what each liked item adds, worked out with pauses; undefined when the model knows none of them. */
  decompose(
    likedItemRows: readonly number[],
    itemRow: number,
  ): Generator<undefined, ScoreDecomposition | undefined>;
  /** The scores of the items for a user's vector; 0 for an item that the model does not know. */
  scoreItems(vector: Float32Array, itemRows: readonly number[]): Float32Array;
  /**
   * The `k` items with the highest scores that pass `accept`, best first.
   * @param among look only at these
   */
  topItems(vector: Float32Array, k: number, accept: (itemRow: number) => boolean, among: LookedAt): Ranked;
  /** The rows that `topItems` has for each of many users, in less time, where the bits alone say what passes. */
  topItemsOfMany(
    asked: readonly AskedTogether[],
    k: number,
    allowed: Uint32Array,
  ): readonly ArrayLike<number>[];
}

/** A user who is asked about together with others. */
export interface AskedTogether {
  readonly vector: Float32Array;
  /** Items that are not looked at, ascending. */
  readonly read: readonly number[];
}

/** What a model looks at of its items; `accept` refuses the others, too. */
export interface LookedAt {
  /** Items that are not looked at, ascending. */
  readonly read?: readonly number[];
  /** Only these items: one by one where they are few, or where no bits are given. */
  readonly members?: Rows | undefined;
  /** Only the items whose bits are set. */
  readonly allowed?: Uint32Array | undefined;
}

/** Click-through prediction: how likely positive feedback is. */
export interface ClickModel {
  /** Log-odds of positive feedback for each item, by what is known of the user and the items. */
  logits(userRow: number, userLabels: readonly string[], itemRows: readonly number[]): Float32Array;
}

/** Every item's most similar items, computed ahead. */
export interface NeighborLists {
  /** Best first; empty for an item that has none or came after. The arrays must not be changed. */
  neighborsAt(itemRow: number): { readonly rows: Uint32Array; readonly scores: Float32Array };
}

/** Such a table that can be summed over what a user likes, in as many kinds at once as there are sums. */
export interface SummedLists extends NeighborLists {
  readonly sums: readonly RowSums[];
}

/** A user whose like are looked for: by the items that it likes now, or by the labels of the last fit. */
export interface AskedUser {
  readonly userRow: number;
  /** The latest likes first; undefined to compare by labels. */
  readonly likedRows: Uint32Array | undefined;
}

/** What one fit has learned, as serving needs it. Each part may be missing. */
export interface Generation {
  /** Counts up. */
  readonly number: number;
  readonly collaborative: CollaborativeModel | undefined;
  readonly clickThrough: ClickModel | undefined;
  readonly itemNeighbors: NeighborLists | undefined;
  /** SLIM, the sparse linear model: what having an item speaks for, and against (below zero). */
  readonly slim: SummedLists | undefined;
  /** Items that the same users like. */
  readonly itemKnn: SummedLists | undefined;
  /** Items that users go on to. */
  readonly sequence: SummedLists | undefined;
  /** Finds the `k` users most like one, where users were laid out for it; answers undefined where they were not. */
  readonly similarUsers:
    | ((asked: AskedUser, k: number, signal?: AbortSignal) => Promise<Ranked | undefined>)
    | undefined;
  /** How the features of `rankingFeatures` together tell the probability of positive feedback. */
  readonly ranking: Ranking | undefined;
}

/** The one place where the current generation stands; swapped by a single assignment. */
export class GenerationSlot {
  current: Generation | undefined;
}
