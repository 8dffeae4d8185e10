// The best k of a stream, kept in the caller's output arrays as a binary heap whose root is the worst kept:
// lower score, and among equal scores the higher item. `sortHeap` turns it into best-first order.

// @ts-ignore: decorator
@inline
function isWorse(scoreA: f32, itemA: u32, scoreB: f32, itemB: u32): bool {
  return scoreA < scoreB || (scoreA == scoreB && itemA > itemB);
}

/** Puts (score, item) at `place` or below, moving worse children up. */
function siftDown(items: usize, scores: usize, count: u32, place: u32, score: f32, item: u32): void {
  while (true) {
    let child = place * 2 + 1;
    if (child >= count) break;
    // Which child is worse is a coin toss, so that it is added up and not branched on.
    const sibling = min(child + 1, count - 1);
    const at0 = <usize>child << 2;
    const at1 = <usize>sibling << 2;
    const score0 = load<f32>(scores + at0);
    const score1 = load<f32>(scores + at1);
    const item0 = load<u32>(items + at0);
    const item1 = load<u32>(items + at1);
    child += <u32>(score1 < score0) | (<u32>(score1 == score0) & <u32>(item1 > item0));
    const childAt = <usize>child << 2;
    const childScore = load<f32>(scores + childAt);
    const childItem = load<u32>(items + childAt);
    if (!isWorse(childScore, childItem, score, item)) break;
    const at = <usize>place << 2;
    store<f32>(scores + at, childScore);
    store<u32>(items + at, childItem);
    place = child;
  }
  const at = <usize>place << 2;
  store<f32>(scores + at, score);
  store<u32>(items + at, item);
}

function siftUp(items: usize, scores: usize, place: u32, score: f32, item: u32): void {
  while (place > 0) {
    const parent = (place - 1) >> 1;
    const parentAt = <usize>parent << 2;
    const parentScore = load<f32>(scores + parentAt);
    const parentItem = load<u32>(items + parentAt);
    if (!isWorse(score, item, parentScore, parentItem)) break;
    const at = <usize>place << 2;
    store<f32>(scores + at, parentScore);
    store<u32>(items + at, parentItem);
    place = parent;
  }
  const at = <usize>place << 2;
  store<f32>(scores + at, score);
  store<u32>(items + at, item);
}

/** Offers a score that beat the threshold. @returns the new count. */
export function offer(items: usize, scores: usize, count: u32, k: u32, score: f32, item: u32): u32 {
  if (count < k) {
    siftUp(items, scores, count, score, item);
    return count + 1;
  }
  if (isWorse(load<f32>(scores), load<u32>(items), score, item)) siftDown(items, scores, k, 0, score, item);
  return count;
}

/** Scores at or below this cannot enter. Items come in ascending order, so an equal score comes too late. */
export function thresholdOf(scores: usize, count: u32, k: u32): f32 {
  return count < k ? -Infinity : load<f32>(scores);
}

/** Makes a heap of entries in any order. */
export function makeHeap(items: usize, scores: usize, count: u32): void {
  for (let place = count >> 1; place-- > 0; ) {
    const at = <usize>place << 2;
    siftDown(items, scores, count, place, load<f32>(scores + at), load<u32>(items + at));
  }
}

export function sortHeap(items: usize, scores: usize, count: u32): void {
  for (let end = count; end > 1; end--) {
    const at = <usize>(end - 1) << 2;
    const score = load<f32>(scores + at);
    const item = load<u32>(items + at);
    store<f32>(scores + at, load<f32>(scores));
    store<u32>(items + at, load<u32>(items));
    siftDown(items, scores, end - 1, 0, score, item);
  }
}

/** False for NaN and infinities. */
// @ts-ignore: decorator
@inline
export function isFiniteScore(score: f32): bool {
  return (reinterpret<u32>(score) & 0x7f800000) != 0x7f800000;
}
