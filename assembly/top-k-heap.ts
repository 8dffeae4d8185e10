// The best k of a stream, kept in the caller's output arrays as a binary heap whose root is the worst kept:
// lower score, and among equal scores the higher item. `sortHeap` turns it into best-first order. T is f32 or f64.

// @ts-ignore: decorator
@inline
function isWorse<T>(scoreA: T, itemA: u32, scoreB: T, itemB: u32): bool {
  return scoreA < scoreB || (scoreA == scoreB && itemA > itemB);
}

// @ts-ignore: decorator
@inline
function scoreAt<T>(scores: usize, place: u32): T {
  return load<T>(scores + (<usize>place << alignof<T>()));
}

// @ts-ignore: decorator
@inline
function itemAt(items: usize, place: u32): u32 {
  return load<u32>(items + (<usize>place << 2));
}

// @ts-ignore: decorator
@inline
function put<T>(items: usize, scores: usize, place: u32, score: T, item: u32): void {
  store<T>(scores + (<usize>place << alignof<T>()), score);
  store<u32>(items + (<usize>place << 2), item);
}

/** Puts (score, item) at `place` or below, moving worse children up. */
function siftDown<T>(items: usize, scores: usize, count: u32, place: u32, score: T, item: u32): void {
  while (true) {
    let child = place * 2 + 1;
    if (child >= count) break;
    // Which child is worse is a coin toss, so that it is added up and not branched on.
    const sibling = min(child + 1, count - 1);
    const score0 = scoreAt<T>(scores, child);
    const score1 = scoreAt<T>(scores, sibling);
    const item0 = itemAt(items, child);
    const item1 = itemAt(items, sibling);
    child += <u32>(score1 < score0) | (<u32>(score1 == score0) & <u32>(item1 > item0));
    const childScore = scoreAt<T>(scores, child);
    const childItem = itemAt(items, child);
    if (!isWorse<T>(childScore, childItem, score, item)) break;
    put<T>(items, scores, place, childScore, childItem);
    place = child;
  }
  put<T>(items, scores, place, score, item);
}

function siftUp<T>(items: usize, scores: usize, place: u32, score: T, item: u32): void {
  while (place > 0) {
    const parent = (place - 1) >> 1;
    const parentScore = scoreAt<T>(scores, parent);
    const parentItem = itemAt(items, parent);
    if (!isWorse<T>(score, item, parentScore, parentItem)) break;
    put<T>(items, scores, place, parentScore, parentItem);
    place = parent;
  }
  put<T>(items, scores, place, score, item);
}

/** Offers a score that beat the threshold. @returns the new count. */
export function offer<T>(items: usize, scores: usize, count: u32, k: u32, score: T, item: u32): u32 {
  if (count < k) {
    siftUp<T>(items, scores, count, score, item);
    return count + 1;
  }
  if (isWorse<T>(load<T>(scores), load<u32>(items), score, item)) siftDown<T>(items, scores, k, 0, score, item);
  return count;
}

/** Scores at or below this cannot enter. Items come in ascending order, so an equal score comes too late. */
export function thresholdOf(scores: usize, count: u32, k: u32): f32 {
  return count < k ? -Infinity : load<f32>(scores);
}

/** Makes a heap of entries in any order. */
export function makeHeap(items: usize, scores: usize, count: u32): void {
  for (let place = count >> 1; place-- > 0; ) {
    siftDown<f32>(items, scores, count, place, scoreAt<f32>(scores, place), itemAt(items, place));
  }
}

export function sortHeap(items: usize, scores: usize, count: u32): void {
  for (let end = count; end > 1; end--) {
    const last = end - 1;
    const score = scoreAt<f32>(scores, last);
    const item = itemAt(items, last);
    put<f32>(items, scores, last, load<f32>(scores), load<u32>(items));
    siftDown<f32>(items, scores, last, 0, score, item);
  }
}

/** False for NaN and infinities. */
// @ts-ignore: decorator
@inline
export function isFiniteScore(score: f32): bool {
  return (reinterpret<u32>(score) & 0x7f800000) != 0x7f800000;
}
