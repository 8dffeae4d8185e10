/**
 * The memory of a model of items grows with all users' likes together, and what comparing them takes with the square of what
 * each user likes. Where that is more than there may be, a seeded sample of the users stands for all: what items have in
 * common is told by many users in the same way. The same where the feedback itself and a matrix factorization of it, its
 * users divided, exceed the budget: `shareThatFits` decides that before any of it is placed.
 */

import type { FeedbackCounts } from '../../dataset/collect-training-data.ts';
import { isSampled } from '../../dataset/hold-out-survey.ts';
import { type CompressedMatrix, type Interactions, transpose } from '../../dataset/interactions.ts';
import type { TrainingData } from '../../dataset/training-data.ts';
import { MEMORY_BYTES_MAX } from '../../memory/shared-memory.ts';
import type { StageRoom } from './learned-part.ts';
import type { StageMemory } from './memory-budget.ts';

/** The most additions that comparing all items may take: some minutes of one thread. */
export const ADDITIONS_MAX = 1e11;
/** Fewer users than this share tell too little about the others. */
const SHARE_MIN = 0.01;
/** Largest excess of a sample over its share, by chance. */
const MARGIN = 0.97;

/** The shape of a matrix of items and users. */
export type MatrixShape = Pick<Interactions, 'userCount' | 'itemCount' | 'count'>;

/** Threads that the size of a sample is worked out for. */
const SAMPLE_SLOTS = 32;

/** Of the sample; fixed, for it only stands for all. */
const SAMPLE_SEED = 7;

/** The shape of a matrix of a share of the users, no smaller than it may turn out. */
export function sampledShape({ userCount, itemCount, count }: MatrixShape, share: number): MatrixShape {
  const part = share >= 1 ? 1 : Math.min(1, share / MARGIN);
  return { userCount: Math.ceil(userCount * part), itemCount, count: Math.ceil(count * part) };
}

/** For how many threads to reckon where the size of a sample hangs on it: the same for all numbers up to 32. */
export function sampledSlots(slots: number): number {
  return Math.max(SAMPLE_SLOTS, slots);
}

/** Bytes that a part takes: in its largest piece, to train and to serve. */
export interface PartBytes extends Required<Pick<StageMemory, 'piece' | 'training' | 'models'>> {
  /** Beside the models, of the threads that ask them; none when absent. No sample lessens it, so it decides about none. */
  readonly scratch?: number;
}

export interface SampleLimits {
  /** Memory of the part by the shape of its data. */
  readonly bytesOf: (shape: MatrixShape) => PartBytes;
  /** Limit on the latter two together. */
  readonly roomBytes: number;
  readonly additionsMax?: number;
}

/** The share of the users with whom a part stays within its limits, above 0 to 1; worked out from counts alone. */
export function shareWithin(interactions: Interactions, limits: SampleLimits): number {
  const { bytesOf, roomBytes, additionsMax = ADDITIONS_MAX } = limits;
  const { userCount, itemCount, count } = interactions;
  const fits = (share: number) => {
    const shape = { userCount: userCount * share, itemCount, count: count * share };
    const { piece, training, models } = bytesOf(shape);
    return piece <= MEMORY_BYTES_MAX && training + models <= roomBytes;
  };
  const ofTime = additionsMax / Math.max(1, additionsOf(interactions.byUser));
  if (ofTime >= 1 && fits(1)) return 1;
  let least = SHARE_MIN;
  let most = Math.min(1, ofTime);
  for (let step = 0; step < 20 && most > least; step++) {
    const middle = (least + most) / 2;
    if (fits(middle)) least = middle;
    else most = middle;
  }
  return Math.max(SHARE_MIN, MARGIN * least);
}

/** Kept free for what serves meanwhile, a part of the budget: so the share does not hang on whether anything does yet. */
const SERVED_SHARE = 0.25;

/** Bytes that a user, an item and a distinct pair take, and what comes on top whatever their number. */
export interface Footprint {
  readonly user: number;
  readonly item: number;
  readonly pair: number;
  readonly base: number;
}

/** Bytes that feedback and all that is learned from it may take. */
export interface FeedbackRoom {
  /** Shared memory that is taken already, and the most that there may be. */
  readonly heldBytes: number;
  readonly budgetBytes: number;
  /** Memory of feedback and of its training: where all would not fit, a sample of the users is learned from. All are when absent. */
  readonly footprint?: Footprint;
}

/**
 * The share of the users with whom the feedback and a training of it stay within the budget, above 0 to 1: by data and
 * configuration alone, unless what serves takes more than is kept for it.
 */
export function shareThatFits(
  { users, items, pairs }: FeedbackCounts,
  { footprint, heldBytes, budgetBytes }: FeedbackRoom,
): number {
  if (footprint === undefined) return 1;
  const left =
    budgetBytes - Math.max(heldBytes, SERVED_SHARE * budgetBytes) - footprint.base - items * footprint.item;
  const wanted = users * footprint.user + pairs * footprint.pair;
  if (wanted <= left) return 1;
  // What the items take alone is refused by the training itself, which says what would help.
  return Math.max(SHARE_MIN, left / wanted);
}

/** The users that a part learns from, and what it takes with them. */
export interface SamplePlan {
  /** Of the users, above 0 to 1. */
  readonly share: number;
  readonly memory: StageMemory;
}

/**
 * @param bytesAt what the part takes by the number of threads, and then by the shape of what it learns from
 * @param additionsMax as in `SampleLimits`
 */
export function planSample(
  { interactions }: TrainingData,
  slots: number,
  { sampleBytes: roomBytes }: StageRoom,
  bytesAt: (slots: number) => SampleLimits['bytesOf'],
  additionsMax?: number,
): SamplePlan {
  const limits = { bytesOf: bytesAt(sampledSlots(slots)), roomBytes };
  const share = shareWithin(interactions, additionsMax === undefined ? limits : { ...limits, additionsMax });
  const leftOut = leftOutOf(share);
  const { scratch = 0, models, ...rest } = bytesAt(slots)(sampledShape(interactions, share));
  const memory = { ...rest, models: models + scratch };
  return { share, memory: leftOut === undefined ? memory : { ...memory, leftOut } };
}

/** The matrix of a seeded sample of the users, who are counted anew; items stay where they are. */
export function sampleUsers(interactions: Interactions, share: number): Interactions {
  if (share >= 1) return interactions;
  const { indptr, indices, weights } = interactions.byUser;
  const kept = sampledRows(interactions.userCount, share);
  const count = kept.reduce((sum, user) => sum + indptr[user + 1]! - indptr[user]!, 0);
  const starts = new Uint32Array(kept.length + 1);
  const items = new Uint32Array(count);
  const values = weights && new Float32Array(count);
  kept.forEach((user, row) => {
    const [from, to, at] = [indptr[user]!, indptr[user + 1]!, starts[row]!];
    items.set(indices.subarray(from, to), at);
    values?.set(weights!.subarray(from, to), at);
    starts[row + 1] = at + to - from;
  });
  const byUser: CompressedMatrix = {
    rowCount: kept.length,
    columnCount: interactions.itemCount,
    indptr: starts,
    indices: items,
    weights: values,
  };
  const { itemCount } = interactions;
  return { userCount: kept.length, itemCount, count, byUser, byItem: transpose(byUser) };
}

/** The same data of a seeded sample of the users; what is held out names rows that are no longer there and is left out. */
export function sampleData(data: TrainingData, share: number): TrainingData {
  if (share >= 1) return data;
  const { interactions, rows } = data;
  const users = Uint32Array.from(sampledRows(interactions.userCount, share), (row) => rows.users[row]!);
  const heldOut = { userRows: new Uint32Array(0), itemRows: new Uint32Array(0) };
  const sample = sampleUsers(interactions, share);
  return {
    ...data,
    interactions: sample,
    rows: { ...rows, users },
    heldOut,
    userShare: data.userShare * share,
  };
}

function sampledRows(userCount: number, share: number): number[] {
  const kept: number[] = [];
  for (let user = 0; user < userCount; user++) if (isSampled(user, share, SAMPLE_SEED)) kept.push(user);
  return kept;
}

/** Note on what is left out with a share of the users, for the log; undefined when nothing is. */
export function leftOutOf(share: number): string | undefined {
  return share >= 1 ? undefined : `learned from ${(share * 100).toFixed(1)} % of the users`;
}

/** Cost of comparing all columns of a matrix by its rows: the square of each row's entries, summed. */
export function additionsOf({ rowCount, indptr }: CompressedMatrix): number {
  let sum = 0;
  for (let row = 0; row < rowCount; row++) sum += (indptr[row + 1]! - indptr[row]!) ** 2;
  return sum;
}
