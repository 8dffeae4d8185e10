// The best k of a stream in a buffer of some more: newcomers are appended in the order of their items, and when it is
// full the best k stay, in their order. The first k places are the caller's output arrays, the spare ones scratch.
//
// Appending is a few instructions, where a heap sifts through log k levels with a branch in each that cannot be foretold;
// the threshold rises seldom but far, and about as few are let in.

import { makeHeap, sortHeap } from './top-k-heap';

/** Most places beyond the first k. */
export const SPARE_MAX: u32 = 128;

/** Places beyond the first k; fewer for a short list, whose threshold would rise too late. */
export function spareOf(k: u32): u32 {
  return min<u32>(SPARE_MAX, max<u32>(16, k));
}

function countAbove(scores: usize, count: u32, limit: f32): u32 {
  const limits = f32x4.splat(limit);
  let sums = i32x4.splat(0);
  let sums2 = i32x4.splat(0);
  const end = scores + (<usize>count << 2);
  // A lane that is greater is -1.
  for (; scores + 32 <= end; scores += 32) {
    sums = i32x4.sub(sums, f32x4.gt(v128.load(scores), limits));
    sums2 = i32x4.sub(sums2, f32x4.gt(v128.load(scores, 16), limits));
  }
  sums = i32x4.add(sums, sums2);
  if (scores + 16 <= end) {
    sums = i32x4.sub(sums, f32x4.gt(v128.load(scores), limits));
    scores += 16;
  }
  let above: u32 = i32x4.extract_lane(sums, 0) + i32x4.extract_lane(sums, 1);
  above += i32x4.extract_lane(sums, 2) + i32x4.extract_lane(sums, 3);
  for (; scores < end; scores += 4) above += u32(load<f32>(scores) > limit);
  return above;
}

function lowestOf(scores: usize, count: u32, lowest: f32): f32 {
  const end = scores + (<usize>count << 2);
  let lows = f32x4.splat(lowest);
  for (; scores + 16 <= end; scores += 16) lows = f32x4.pmin(lows, v128.load(scores));
  for (; scores < end; scores += 4) lowest = min<f32>(lowest, load<f32>(scores));
  lowest = min<f32>(lowest, min<f32>(f32x4.extract_lane(lows, 0), f32x4.extract_lane(lows, 1)));
  return min<f32>(lowest, min<f32>(f32x4.extract_lane(lows, 2), f32x4.extract_lane(lows, 3)));
}

function highestOf(scores: usize, count: u32, highest: f32): f32 {
  const end = scores + (<usize>count << 2);
  let highs = f32x4.splat(highest);
  for (; scores + 16 <= end; scores += 16) highs = f32x4.pmax(highs, v128.load(scores));
  for (; scores < end; scores += 4) highest = max<f32>(highest, load<f32>(scores));
  highest = max<f32>(highest, max<f32>(f32x4.extract_lane(highs, 0), f32x4.extract_lane(highs, 1)));
  return max<f32>(highest, max<f32>(f32x4.extract_lane(highs, 2), f32x4.extract_lane(highs, 3)));
}

/**
 * Keeps the best k of k + spare finite scores, in their order; of those equal to the last one kept the first.
 * @returns the last one's score: what comes later must beat it
 */
export function keepBest(
  items: usize, scores: usize, k: u32, spareItems: usize, spareScores: usize, spare: u32,
): f32 {
  let low = lowestOf(spareScores, spare, lowestOf(scores, k, Infinity));
  let high = highestOf(spareScores, spare, highestOf(scores, k, -Infinity));
  // Halves [low, high] until k scores are above low: at least k are, and fewer than k above high.
  let above = countAbove(scores, k, low) + countAbove(spareScores, spare, low);
  if (above < k) high = low;
  while (above > k) {
    const middle = low * <f32>0.5 + high * <f32>0.5;
    // No number lies between: all that is above low and not above high equals high.
    if (!(middle > low && middle < high)) break;
    const count = countAbove(scores, k, middle) + countAbove(spareScores, spare, middle);
    if (count < k) {
      high = middle;
    } else {
      low = middle;
      above = count;
    }
  }
  let equals: u32 = 0;
  if (above != k) {
    low = high;
    equals = k - countAbove(scores, k, high) - countAbove(spareScores, spare, high);
  }
  let to: usize = 0;
  const end = <usize>k << 2;
  for (let at: usize = 0; to < end; at += 4) {
    // First the places that are the list's own, which is closed up in place; then the spare ones.
    const isOwn = at < end;
    const score = load<f32>((isOwn ? scores : spareScores - end) + at);
    const item = load<u32>((isOwn ? items : spareItems - end) + at);
    const isEqual = u32(score == low) & u32(equals != 0);
    equals -= isEqual;
    store<f32>(scores + to, score);
    store<u32>(items + to, item);
    to += <usize>(u32(score > low) | isEqual) << 2;
  }
  return lowestOf(scores, k, Infinity);
}

/** No item has this number. */
const NONE: u32 = 0xffffffff;

/**
 * Sorts a short list best first: an entry's place is the number of scores above its own, or the next one free where equal
 * scores that came before have taken it. Counting is a few vector operations a pair of entries, without a branch.
 */
function sortByRank(items: usize, scores: usize, count: u32, spareItems: usize, spareScores: usize): void {
  const bytes = <usize>count << 2;
  for (let at: usize = 0; at < bytes; at += 4) store<u32>(spareItems + at, NONE);
  for (let at: usize = 0; at < bytes; at += 4) {
    const score = load<f32>(scores + at);
    let to = <usize>countAbove(scores, count, score) << 2;
    while (load<u32>(spareItems + to) != NONE) to += 4;
    store<f32>(spareScores + to, score);
    store<u32>(spareItems + to, load<u32>(items + at));
  }
  memory.copy(scores, spareScores, bytes);
  memory.copy(items, spareItems, bytes);
}

/** Cuts a shortlist of `count` to k and sorts it best first. @returns how many are left */
export function finishList(
  items: usize, scores: usize, count: u32, k: u32, spareItems: usize, spareScores: usize,
): u32 {
  if (count > k) {
    keepBest(items, scores, k, spareItems, spareScores, count - k);
    count = k;
  }
  if (count <= SPARE_MAX) {
    sortByRank(items, scores, count, spareItems, spareScores);
  } else {
    makeHeap(items, scores, count);
    sortHeap(items, scores, count);
  }
  return count;
}
