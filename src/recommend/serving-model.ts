import type { ScoreDecomposition } from '../model/explain.ts';
import type { Ranked } from './ranked.ts';

/** A published generation of the collaborative model, as serving needs it. */
export interface ServingModel {
  /** Number of the generation, counting up. */
  readonly generation: number;
  /** The user's vector solved from its liked items against the current item factors; undefined when none of them is in the model. */
  foldIn(likedItemRows: readonly number[]): Float32Array | undefined;
  /** The item's score as the sum of what each liked item adds; undefined when the model knows none of them. */
  decompose(likedItemRows: readonly number[], itemRow: number): ScoreDecomposition | undefined;
  /**
   * The `k` items with the highest scores that pass `accept`, best first.
   * @param among look only at these items; at all when absent
   */
  topItems(
    vector: Float32Array,
    k: number,
    accept: (itemRow: number) => boolean,
    among?: ReadonlySet<number>,
  ): Ranked;
}

/** The one place where the current generation stands; swapped by a single assignment. */
export class ModelSlot {
  current: ServingModel | undefined;
}
