import type { SharedTask } from '../part/chunks-for-threads.ts';
import type { LearnedPart, SumFeature } from '../part/learned-part.ts';
import type { WithServedItems } from '../part/served-items.ts';
import { type NeighborTable, neighborsAt, tableSaving } from './neighbor-table.ts';
import {
  openSums,
  type PlacedSums,
  placeSums,
  type RowSums,
  SUMMED_ROWS_MAX,
  type SumsOptions,
} from './row-sums.ts';

/** Every item's most similar items, computed ahead. */
export interface NeighborLists {
  /** Best first; empty for an item that has none or came after. The arrays must not be changed. */
  neighborsAt(itemRow: number): { readonly rows: Uint32Array; readonly scores: Float32Array };
}

/** Sums over one user's likes, by item row; see `RowSums`. */
export interface SummedLikes extends Pick<RowSums, 'get' | 'copy' | 'largest' | 'topRows'> {
  /** @param userRow -1 for one of whom nothing but the likes is known */
  sumUp(liked: readonly number[], weights: Float64Array, userRow: number): void;
}

/** Such a table that can be summed over what a user likes, in as many kinds at once as there are sums. */
export interface SummedLists extends NeighborLists {
  readonly sums: readonly RowSums[];
}

/** Every like weighs the same. */
const ALIKE = new Float64Array(SUMMED_ROWS_MAX).fill(1);

/** The first sum of a part over all likes alike. */
export function sumOfLikes(meaning: string, isShare: boolean): SumFeature {
  return { meaning, sum: 0, weights: ALIKE, isShare };
}

export function openLists(table: NeighborTable): NeighborLists {
  return { neighborsAt: (row) => neighborsAt(table, row) };
}

/** A part that learns such a table. */
export type SummedPart<Options, Task extends SharedTask, Phase, Feature extends string> = LearnedPart<
  Options,
  Task & WithServedItems,
  Phase,
  undefined,
  NeighborTable,
  PlacedSums,
  SummedLists,
  Feature
>;

/** Fields that such parts have in common: those by which a table is saved, placed and opened. @param name of its bytes */
export function summedTable(
  name: string,
  sums: SumsOptions = {},
): Pick<SummedPart<object, SharedTask, never, never>, 'saving' | 'serve' | 'open'> {
  return {
    saving: tableSaving(name),
    serve: (table, shape, { allocate }) => placeSums(table, shape, sums, allocate),
    open: (placed, { instantiate, slot }) => ({
      ...openLists(placed),
      sums: openSums(placed, instantiate, slot),
    }),
  };
}
