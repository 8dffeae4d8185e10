import { loadKernels } from '../kernel/load-kernels.ts';
import { MfScorer } from '../model/als/scores-and-fold-in.ts';
import { FmScorer } from '../model/click/scorer.ts';
import { openSums, type PlacedSums } from '../model/neighbors/kernel-row-sums.ts';
import { type NeighborTable, neighborsAt } from '../model/neighbors/neighbor-table.ts';
import { collaborativeModel } from '../recommend/models/collaborative-model.ts';
import type { ClickModel, Generation, NeighborLists, SummedLists } from '../recommend/models/generation.ts';
import type { PlacedGeneration } from './messages.ts';

/**
 * A generation in shared memory as this thread's own.
 * @param slot this thread's number; no two threads use one slot at the same time
 * @param itemLabelsOf the labels of an item that came after the fit
 */
export function openGeneration(
  { number, ranking, als, click, ...tables }: PlacedGeneration,
  slot: number,
  itemLabelsOf: (itemRow: number) => readonly string[],
): Generation {
  return {
    number,
    collaborative: als && collaborativeModel(als, new MfScorer(als, loadKernels(als.memory), slot)),
    clickThrough: click && clickModel(new FmScorer(click, loadKernels(click.memory), slot), itemLabelsOf),
    itemNeighbors: listsOf(tables.itemNeighbors),
    slim: summedLists(tables.slim, slot),
    itemKnn: summedLists(tables.itemKnn, slot),
    sequence: summedLists(tables.sequence, slot),
    similarUsers: undefined,
    ranking,
  };
}

function listsOf(table: NeighborTable | undefined): NeighborLists | undefined {
  return table && { neighborsAt: (row) => neighborsAt(table, row) };
}

function summedLists(placed: PlacedSums | undefined, slot: number): SummedLists | undefined {
  if (placed === undefined) return undefined;
  return { neighborsAt: (row) => neighborsAt(placed, row), sums: openSums(placed, loadKernels, slot) };
}

function clickModel(scorer: FmScorer, itemLabelsOf: (itemRow: number) => readonly string[]): ClickModel {
  return {
    logits: (userRow, userLabels, itemRows) =>
      scorer.logits(scorer.userSide(userRow, userLabels), itemRows, (row) =>
        scorer.itemSideOf(itemLabelsOf(row)),
      ),
  };
}
