/**
 * Makes the matrix that models are trained on of feedback as it is stored, in two passes: one counts, the other puts
 * every pair where it belongs. Rows of the matrix are the users and items that have any positive feedback now, in the
 * order of their rows in the store: what was deleted leaves no trace in what is learned, nor in its memory.
 */
import { placeOf } from '../memory/binary-search.ts';
import { bitWords, hasBit, setBit } from '../memory/bits.ts';
import { GrowingU32 } from '../memory/growing-u32.ts';
import { filled, sharedF32, sharedU32 } from '../memory/shared-arrays.ts';
import { fingerprintOfAll } from './fingerprint.ts';
import {
  type HeldRecords,
  type HoldOut,
  HoldOutSurvey,
  isSampled,
  NOTHING_HELD_OUT,
} from './hold-out-survey.ts';
import { type CompressedMatrix, type Interactions, transpose } from './interactions.ts';
import type { TrainingData } from './training-data.ts';

/**
 * Hands out all positive feedback by user row, then item row; always the same. Rows are those of the store.
 * @param visit `weight` is the record's confidence, above 0
 */
export type ReplayFeedback = (
  visit: (userRow: number, itemRow: number, time: number, weight: number) => void,
) => void;

/** Counts of the data, before anything is placed. */
export interface FeedbackCounts {
  readonly users: number;
  readonly items: number;
  /** Distinct pairs. */
  readonly pairs: number;
}

export interface CollectOptions {
  /** Rows that the store has ever given. */
  readonly userRowCount: number;
  readonly itemRowCount: number;
  /** True when records have weights; of a pair the largest counts. */
  readonly weighted: boolean;
  /** True to leave out the feedback that models are judged by. */
  readonly leavesOut: boolean;
  readonly seed: number;
  /** Asked once all is counted: the share of the users to learn from, above 0 to 1. */
  readonly shareOf?: (counts: FeedbackCounts) => number;
}

/** @returns undefined when there is no feedback */
export function collectTrainingData(
  replay: ReplayFeedback,
  options: CollectOptions,
): TrainingData | undefined {
  const { leavesOut, seed, shareOf = () => 1, userRowCount, itemRowCount } = options;
  const survey = surveyFeedback(replay, options);
  if (survey.counts.pairs === 0) return undefined;
  const share = shareOf(survey.counts);
  const held = leavesOut ? survey.holdOut.choose(survey.replayTimed(replay)) : NOTHING_HELD_OUT;
  const kept = keepUsers(survey, share, seed);
  const interactions = placeFeedback(replay, survey, kept, new PairSet(held.late), options.weighted);
  const heldOut = keptPairs(held, survey, kept);
  const rows = { users: share < 1 ? kept.rows : shared(survey.users.view()), items: survey.itemRows };
  return {
    interactions,
    rows,
    userRowCount,
    itemRowCount,
    heldOut,
    heldOutSinceMs: held.sinceTime,
    fingerprint: fingerprintOfAll(interactions, heldOut, rows),
    positives: survey.counts.pairs,
    userShare: share,
  };
}

interface Survey {
  /** Rows of the users in the store, ascending, and how many distinct pairs each has. */
  readonly users: GrowingU32;
  readonly userPairs: GrowingU32;
  readonly itemRows: Uint32Array<SharedArrayBuffer>;
  /** Row of the matrix by item row of the store. */
  readonly denseItems: Uint32Array;
  readonly holdOut: HoldOutSurvey;
  readonly counts: FeedbackCounts;
  /** The feedback by row of the matrix for users, of the store for items. */
  replayTimed(replay: ReplayFeedback): (visit: (user: number, itemRow: number, time: number) => void) => void;
}

/** Counts users, items and pairs: 8 bytes a user and 4 for every item row ever given. */
function surveyFeedback(replay: ReplayFeedback, { itemRowCount, leavesOut, seed }: CollectOptions): Survey {
  const users = new GrowingU32();
  const userPairs = new GrowingU32();
  const denseItems = new Uint32Array(itemRowCount);
  const holdOut = new HoldOutSurvey(seed);
  let lastUser = -1;
  let lastItem = -1;
  let pairs = 0;
  replay((userRow, itemRow, time) => {
    if (userRow !== lastUser) {
      users.push(userRow);
      userPairs.push(0);
      lastUser = userRow;
      lastItem = -1;
    }
    if (leavesOut) holdOut.add(users.length - 1, itemRow, time);
    if (itemRow === lastItem) return;
    lastItem = itemRow;
    denseItems[itemRow] = 1;
    userPairs.add(users.length - 1, 1);
    pairs++;
  });
  let items = 0;
  for (let row = 0; row < itemRowCount; row++) items += denseItems[row]!;
  const itemRows = sharedU32(items);
  for (let row = 0, dense = 0; row < itemRowCount; row++) {
    if (denseItems[row] === 0) continue;
    itemRows[dense] = row;
    denseItems[row] = dense++;
  }
  const counts = { users: users.length, items, pairs };
  return { users, userPairs, itemRows, denseItems, holdOut, counts, replayTimed: byUserNumber };
}

/** The feedback with users counted from 0. */
function byUserNumber(replay: ReplayFeedback) {
  return (visit: (user: number, itemRow: number, time: number) => void) => {
    let user = -1;
    let lastUser = -1;
    replay((userRow, itemRow, time) => {
      if (userRow !== lastUser) user++;
      lastUser = userRow;
      visit(user, itemRow, time);
    });
  };
}

interface KeptUsers {
  readonly count: number;
  /** Rows of the store. */
  readonly rows: Uint32Array<SharedArrayBuffer>;
  /** Row of the matrix of the user with a number, -1 for one that is not in the sample. */
  rowOf(user: number): number;
}

function keepUsers({ users }: Survey, share: number, seed: number): KeptUsers {
  if (share >= 1) return { count: users.length, rows: sharedU32(0), rowOf: (user) => user };
  const places = new Int32Array(users.length).fill(-1);
  const rows = new GrowingU32();
  for (let user = 0; user < users.length; user++) {
    if (!isSampled(user, share, ~seed)) continue;
    places[user] = rows.length;
    rows.push(users.at(user));
  }
  return { count: rows.length, rows: shared(rows.view()), rowOf: (user) => places[user]! };
}

/** Puts every pair that is learned from in its place: 8 bytes a pair, 16 with weights. */
function placeFeedback(
  replay: ReplayFeedback,
  { counts, denseItems, userPairs }: Survey,
  kept: KeptUsers,
  leftOut: PairSet,
  weighted: boolean,
): Interactions {
  let most = 0;
  for (let user = 0; user < counts.users; user++) if (kept.rowOf(user) >= 0) most += userPairs.at(user);
  const indptr = sharedU32(kept.count + 1);
  const indices = sharedU32(most);
  const weights = weighted ? sharedF32(most) : null;
  let count = 0;
  let user = -1;
  let row = -1;
  let lastUser = -1;
  let lastItem = -1;
  let isLeft = false;
  replay((userRow, itemRow, _time, weight) => {
    if (userRow !== lastUser) {
      lastUser = userRow;
      lastItem = -1;
      row = kept.rowOf(++user);
    }
    if (row < 0) return;
    if (itemRow !== lastItem) {
      lastItem = itemRow;
      isLeft = leftOut.has(user, itemRow);
      if (isLeft) return;
      if (weights !== null) weights[count] = weight;
      indices[count++] = denseItems[itemRow]!;
      indptr[row + 1] = count;
    } else if (!isLeft && weights !== null) {
      weights[count - 1] = Math.max(weights[count - 1]!, weight);
    }
  });
  // A user all of whose pairs are left out ends where the one before does.
  for (let at = 0; at < kept.count; at++) indptr[at + 1] = Math.max(indptr[at]!, indptr[at + 1]!);
  const byUser: CompressedMatrix = {
    rowCount: kept.count,
    columnCount: counts.items,
    indptr,
    indices: indices.subarray(0, count),
    weights: weights?.subarray(0, count) ?? null,
  };
  return {
    userCount: kept.count,
    itemCount: counts.items,
    count,
    byUser,
    byItem: transpose(byUser, sharedBytes),
  };
}

/** The distinct pairs that models are judged by, of users that are kept. */
function keptPairs({ judged }: HoldOut, { denseItems }: Survey, kept: KeptUsers): TrainingData['heldOut'] {
  const users = new GrowingU32();
  const items = new GrowingU32();
  let lastUser = -1;
  let lastItem = -1;
  judged.userRows.forEach((user, at) => {
    const item = judged.itemRows[at]!;
    if (kept.rowOf(user) < 0 || (user === lastUser && item === lastItem)) return;
    lastUser = user;
    lastItem = item;
    users.push(kept.rowOf(user));
    items.push(denseItems[item]!);
  });
  return { userRows: shared(users.view()), itemRows: shared(items.view()) };
}

/** Pairs that can be asked for: 8 bytes each, and a bit a user. */
class PairSet {
  private readonly keys: Float64Array;
  private readonly users: Uint32Array;

  constructor({ userRows, itemRows }: HeldRecords) {
    this.keys = Float64Array.from(userRows, (user, at) => keyOf(user, itemRows[at]!)).sort();
    const last = this.keys.length === 0 ? -1 : Math.floor(this.keys.at(-1)! / 2 ** 32);
    this.users = new Uint32Array(bitWords(last + 1));
    for (const user of userRows) setBit(this.users, user);
  }

  has(user: number, itemRow: number): boolean {
    return hasBit(this.users, user) && placeOf(this.keys, keyOf(user, itemRow)) >= 0;
  }
}

/** One number for a pair. */
function keyOf(user: number, itemRow: number): number {
  return user * 2 ** 32 + itemRow;
}

const sharedBytes = (bytes: number) => new SharedArrayBuffer(bytes);

/** A copy in memory that every thread may read. */
function shared(values: Uint32Array): Uint32Array<SharedArrayBuffer> {
  return filled(sharedU32(values.length), values);
}
