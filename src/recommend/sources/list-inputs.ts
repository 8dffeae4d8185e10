import type { ItemLabels } from '../catalogue/item-labels.ts';
import type { History } from '../history/history.ts';
import type { ColdItems } from '../neighbors/cold-item-index.ts';
import type { RecentLikes } from '../popularity/recent-likes.ts';
import type { RankingInputs } from '../ranking/compute-features.ts';
import type { VectorReader } from '../vectors/vector-reader.ts';

/** The inputs of lists beside the user: on the main thread it moves with every write, in a worker it is a copy. */
export interface ListInputs extends RankingInputs {
  /** Listable items, newest first; some more than a list has entries. */
  readonly latestRows: () => ArrayLike<number>;
  /** Listable items, most popular first; likewise. */
  readonly popularRows: () => ArrayLike<number>;
  /** Listable items with the most positive feedback on one popularity scale, most first; likewise. */
  readonly trendingRows: (scale: number) => ArrayLike<number>;
  readonly isListable: (itemRow: number) => boolean;
  /** Bits of the rows that are listable, and perhaps of some that are not; absent where nobody keeps them. */
  readonly listableBits?: () => Uint32Array;
  /** Items that users like this one like, best first. */
  readonly userBased: (history: History, accept: (row: number) => boolean) => ArrayLike<number>;
  readonly labelsOf: (userRow: number) => readonly string[];
  readonly coldItems: ColdItems;
  /** The latest likes of all; absent where nobody keeps them. */
  readonly recentLikes?: RecentLikes;
  /** The vectors that lists go by; absent where there are none. */
  readonly vectors?: VectorReader | undefined;
  /** The labels of items; absent where there are none. */
  readonly labels?: ItemLabels | undefined;
}
