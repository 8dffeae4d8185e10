import type { Interactions } from '../../dataset/interactions.ts';
import type { TrainingData } from '../../dataset/training-data.ts';
import { sharedF32, sharedU32 } from '../../memory/shared-arrays.ts';
import { type NeighborTable, spreadTable } from '../neighbors/neighbor-table.ts';
import { placedSumsBytes } from '../neighbors/row-sums.ts';
import { type SummedPart, summedTable, sumOfLikes } from '../neighbors/summed-lists.ts';
import type { ServingShape, StageRoom } from '../part/learned-part.ts';
import {
  additionsOf,
  planSample,
  type SampleLimits,
  type SamplePlan,
  sampleUsers,
} from '../part/sample-users-to-fit-memory.ts';
import { servedItems } from '../part/served-items.ts';
import {
  COUNTED_ITEMS_MAX,
  keptWeights,
  placeSlim,
  type SlimTask,
  slimMemoryBytes,
  slimPieceBytes,
  slimViews,
} from './memory-layout.ts';
import { type SlimSettings, slimSettings } from './settings.ts';
import { SLIM_PHASES, type SlimPhase, SlimSolver } from './slim-solver.ts';

function slimBytes(
  { itemRowCount: rowCount }: TrainingData,
  settings: SlimSettings,
  slots: number,
  { listLengthMax }: ServingShape,
): SampleLimits['bytesOf'] {
  return (matrix) => {
    const solvedItems = Math.min(matrix.itemCount, SOLVED_ITEMS_MAX);
    const shape = { ...matrix, slots, settings, solvedItems };
    const table = { learnedItems: solvedItems, entriesARow: keptWeights(settings), rowCount };
    const placed = placedSumsBytes(table, slots, listLengthMax);
    const piece = Math.max(slimPieceBytes(shape), placed.piece);
    return { ...placed, piece, training: slimMemoryBytes(shape) };
  };
}

function planOf(
  data: TrainingData,
  settings: SlimSettings,
  slots: number,
  serving: ServingShape,
  room: StageRoom,
): SamplePlan {
  return planSample(data, slots, room, (threads) => slimBytes(data, settings, threads, serving));
}

/** The sparse linear item-item model; see `slim-solver.ts`. */
export const slimPart: SummedPart<Partial<SlimSettings>, SlimTask, SlimPhase, 'slim'> = {
  title: 'SLIM model',
  stage: 'Training SLIM',
  ...summedTable('item-weights'),
  memory(data, options, slots, serving, _reads, room) {
    const settings = slimSettings(options);
    const { memory, share } = planOf(data, settings, slots, serving, room);
    const { itemCount } = data.interactions;
    const solved = solvedItems(data.interactions, settings, share);
    if (solved === itemCount) return memory;
    const ofItems = `learned for the ${solved} most popular of ${itemCount} items`;
    return {
      ...memory,
      leftOut: memory.leftOut === undefined ? ofItems : `${memory.leftOut} and ${ofItems}`,
    };
  },
  prepare(data, options, slots, { allocate, room }, serving) {
    const settings = slimSettings(options);
    const { share } = planOf(data, settings, slots, serving, room);
    const sample = sampleUsers(data.interactions, share);
    const solved = solvedItems(data.interactions, settings, share);
    return { ...placeSlim(sample, settings, slots, undefined, allocate, solved), served: servedItems(data) };
  },
  *course({ solvedItems }) {
    for (const phase of SLIM_PHASES) {
      yield { kind: 'phase', phase, ...(phase === 'solve' && { rows: solvedItems }) };
    }
    return undefined;
  },
  run: (task, phase, slot, { instantiate }) => new SlimSolver(task, instantiate, slot).runPhase(phase),
  model: (task, _outcome, fingerprint) => spreadTable(slimTable(task, fingerprint), task.served),
  features: {
    slim: sumOfLikes(
      'items that go with what the user likes, weighed so that they foretell what users have (SLIM)',
      false,
    ),
  },
  training: { options: () => ({}), isAlwaysWanted: false, isOnDemand: false },
};

/** Items that weights are learned for, the most popular ones: a million flops each, some minutes of one thread for all. */
const SOLVED_ITEMS_MAX = 300_000;
/** Likes that may be looked at for the rare ones among the items' neighbors: a quarter of an hour of one thread. */
const LIKES_READ_MAX = 5e10;
/** Users of an item are told apart up to this number. */
const USERS_MAX = 65_535;

/**
 * Number of items with weights, the most popular ones. Beside its flops each costs a walk over what those like who
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

/**
 * The learned weights turned round, once all threads have ended: the entries of item i are the items that having it
 * speaks for (or against, below zero), the strongest first. So a user's scores are the sums over the rows of its items.
 */
export function slimTable(task: SlimTask, dataFingerprint: number): NeighborTable {
  const { draft } = task;
  const { k, counts } = draft;
  const { rowCount } = task.similarity;
  const { solvedRows } = slimViews(task);
  const starts = sharedU32(rowCount + 1);
  const visit = (see: (item: number, target: number, weight: number) => void) => {
    for (let row = 0; row < draft.rowCount; row++) {
      const first = row * k;
      for (let at = first; at < first + counts[row]!; at++)
        see(draft.rows[at]!, solvedRows[row]!, draft.scores[at]!);
    }
  };
  visit((item) => {
    starts[item + 1] = starts[item + 1]! + 1;
  });
  for (let row = 0; row < rowCount; row++) starts[row + 1] = starts[row + 1]! + starts[row]!;
  const next = starts.slice();
  const rows = sharedU32(starts[rowCount]!);
  const scores = sharedF32(starts[rowCount]!);
  visit((item, target, weight) => {
    const at = next[item]!;
    next[item] = at + 1;
    rows[at] = target;
    scores[at] = weight;
  });
  for (let row = 0; row < rowCount; row++) {
    sortEntries(rows.subarray(starts[row], starts[row + 1]), scores.subarray(starts[row], starts[row + 1]));
  }
  return { rowCount, fingerprint: dataFingerprint, recall: 1, starts, rows, scores };
}

/** Sorts by score, descending; of equal ones the lower row first. */
function sortEntries(rows: Uint32Array, scores: Float32Array): void {
  const order = Uint32Array.from(rows.keys());
  order.sort((a, b) => scores[b]! - scores[a]! || rows[a]! - rows[b]!);
  const [oldRows, oldScores] = [rows.slice(), scores.slice()];
  order.forEach((from, at) => {
    rows[at] = oldRows[from]!;
    scores[at] = oldScores[from]!;
  });
}
