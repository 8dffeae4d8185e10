// One query against all items: 4 panels of 8 at a time, eight independent sums, so that the additions' latency hides
// behind the loads and the scan runs at memory speed. Where there are coarse panels these are scanned instead, and only
// panels of 8 with an item that may reach the list are scored, by the same additions in the same order. Where there are
// heads of the items (head-scan.ts) and few items can reach the list, only those are.
//
// Scratch: tile, 32 float32 | place in the read list, 16 bytes | panels that wait, 8 uint32 | query as integers, f int16 |
// its unit and slack.

import { scanHeads } from './head-scan';
import { packQuery, reachCoarse } from './quantized-panels';
import { multiplyAdd } from './multiply-add';
import { offer, thresholdOf, sortHeap, isFiniteScore } from './top-k-heap';

/** Scores the 32 items of four panels; writes them and returns true when one beats the threshold. */
function scoreQuad(
  query: usize, panel: usize, panel1: usize, panel2: usize, panel3: usize, f: u32, threshold: f32, tile: usize,
): bool {
  let a0 = f32x4.splat(0);
  let a1 = f32x4.splat(0);
  let a2 = f32x4.splat(0);
  let a3 = f32x4.splat(0);
  let a4 = f32x4.splat(0);
  let a5 = f32x4.splat(0);
  let a6 = f32x4.splat(0);
  let a7 = f32x4.splat(0);
  const end = query + (<usize>f << 2);
  while (query < end) {
    const x = v128.load_splat<f32>(query);
    a0 = multiplyAdd(a0, x, v128.load(panel));
    a1 = multiplyAdd(a1, x, v128.load(panel, 16));
    a2 = multiplyAdd(a2, x, v128.load(panel1));
    a3 = multiplyAdd(a3, x, v128.load(panel1, 16));
    a4 = multiplyAdd(a4, x, v128.load(panel2));
    a5 = multiplyAdd(a5, x, v128.load(panel2, 16));
    a6 = multiplyAdd(a6, x, v128.load(panel3));
    a7 = multiplyAdd(a7, x, v128.load(panel3, 16));
    query += 4;
    panel += 32;
    panel1 += 32;
    panel2 += 32;
    panel3 += 32;
  }
  const t = f32x4.splat(threshold);
  const low = v128.or(v128.or(f32x4.gt(a0, t), f32x4.gt(a1, t)), v128.or(f32x4.gt(a2, t), f32x4.gt(a3, t)));
  const high = v128.or(v128.or(f32x4.gt(a4, t), f32x4.gt(a5, t)), v128.or(f32x4.gt(a6, t), f32x4.gt(a7, t)));
  if (!v128.any_true(v128.or(low, high))) return false;
  v128.store(tile, a0);
  v128.store(tile, a1, 16);
  v128.store(tile, a2, 32);
  v128.store(tile, a3, 48);
  v128.store(tile, a4, 64);
  v128.store(tile, a5, 80);
  v128.store(tile, a6, 96);
  v128.store(tile, a7, 112);
  return true;
}

/** The same for a single panel, at the end of the items. */
function scorePanel(query: usize, panel: usize, f: u32, tile: usize): void {
  let a0 = f32x4.splat(0);
  let a1 = f32x4.splat(0);
  const end = query + (<usize>f << 2);
  while (query < end) {
    const x = v128.load_splat<f32>(query);
    a0 = multiplyAdd(a0, x, v128.load(panel));
    a1 = multiplyAdd(a1, x, v128.load(panel, 16));
    query += 4;
    panel += 32;
  }
  v128.store(tile, a0);
  v128.store(tile, a1, 16);
}

/** The scan's place in the read list; `scratch` holds it between tiles. */
function offerScores(
  scores: usize, first: u32, lanes: u32, k: u32, allowed: u32, readItems: usize, readCount: u32, cursor: usize,
  outItems: usize, outScores: usize, count: u32,
): u32 {
  let limit = thresholdOf(outScores, count, k);
  let at = load<u32>(cursor);
  for (let lane: u32 = 0; lane < lanes; lane++) {
    const score = load<f32>(scores + (<usize>lane << 2));
    if (!(score > limit) || !(allowed & (1 << lane)) || !isFiniteScore(score)) continue;
    const item = first + lane;
    while (at < readCount && load<u32>(readItems + (<usize>at << 2)) < item) at++;
    if (at < readCount && load<u32>(readItems + (<usize>at << 2)) == item) continue;
    count = offer<f32>(outItems, outScores, count, k, score, item);
    limit = thresholdOf(outScores, count, k);
  }
  store<u32>(cursor, at);
  return count;
}

/**
 * Scores the panels that wait, up to 4 of them together, and offers the items of each that may reach the list.
 * @param waiting panel numbers, 4 uint32, then the bits of their items, 4 uint32
 */
function offerWaiting(
  query: usize, panels: usize, f: u32, waiting: usize, waitingCount: u32, k: u32, readItems: usize, readCount: u32,
  tile: usize, outItems: usize, outScores: usize, count: u32,
): u32 {
  const panelBytes = <usize>f << 5;
  // A place without a panel repeats the first, whose scores are not looked at.
  const p0 = panels + <usize>load<u32>(waiting) * panelBytes;
  const p1 = waitingCount > 1 ? panels + <usize>load<u32>(waiting, 4) * panelBytes : p0;
  const p2 = waitingCount > 2 ? panels + <usize>load<u32>(waiting, 8) * panelBytes : p0;
  const p3 = waitingCount > 3 ? panels + <usize>load<u32>(waiting, 12) * panelBytes : p0;
  if (!scoreQuad(query, p0, p1, p2, p3, f, thresholdOf(outScores, count, k), tile)) return count;
  for (let i: u32 = 0; i < waitingCount; i++) {
    const at = waiting + (<usize>i << 2);
    const scores = tile + (<usize>i << 5);
    count = offerScores(
      scores, load<u32>(at) << 3, 8, k, load<u32>(at, 16), readItems, readCount, tile + 128, outItems, outScores, count,
    );
  }
  return count;
}

/** `queryTopK` by way of the coarse panels. Four panels wait for one another, since one alone waits for its additions. */
function queryCoarse(
  query: usize, panels: usize, coarse: usize, items: u32, f: u32, k: u32, allowedBits: usize, readItems: usize,
  readCount: u32, outItems: usize, outScores: usize, scratch: usize,
): u32 {
  const tile = scratch;
  const waiting = scratch + 144;
  const packed = scratch + 176;
  let waitingCount: u32 = 0;
  let count: u32 = 0;
  packQuery(query, f, packed);
  for (let first: u32 = 0; first < items; first += 32, coarse += (<usize>f << 5) + 128) {
    let allowed: u32 = allowedBits ? load<u32>(allowedBits + (<usize>first >> 3)) : 0xffffffff;
    if (items - first < 32) allowed &= (1 << (items - first)) - 1;
    if (!allowed) continue;
    let reach = allowed & reachCoarse(packed, coarse, f, thresholdOf(outScores, count, k));
    for (let panel = first >> 3; reach; reach >>= 8, panel++) {
      if (!(reach & 255)) continue;
      const at = waiting + (<usize>waitingCount << 2);
      store<u32>(at, panel);
      store<u32>(at, reach & 255, 16);
      if (++waitingCount < 4) continue;
      waitingCount = 0;
      count = offerWaiting(
        query, panels, f, waiting, 4, k, readItems, readCount, tile, outItems, outScores, count,
      );
    }
  }
  if (waitingCount > 0) {
    count = offerWaiting(
      query, panels, f, waiting, waitingCount, k, readItems, readCount, tile, outItems, outScores, count,
    );
  }
  sortHeap(outItems, outScores, count);
  return count;
}

export function queryTopK(
  query: usize, panels: usize, items: u32, f: u32, k: u32, allowedBits: usize, readItems: usize, readCount: u32,
  outItems: usize, outScores: usize, scratch: usize, coarse: usize, factors: usize, heads: usize, headLength: u32,
): u32 {
  assert(k > 0 && !((query | panels | scratch) & 3));
  if (heads) {
    // Beyond what the scan by heads takes of the scratch.
    const starts = scratch + 8192 + 132 * (<usize>f << 2);
    store<u32>(starts, 0);
    store<u32>(starts, readCount, 4);
    if (scanHeads(
      query, 1, factors, items, f, k, starts, readItems, outItems, outScores, starts + 8, scratch, allowedBits, heads,
      headLength,
    )) return load<u32>(starts, 8);
  }
  const tile = scratch;
  const cursor = scratch + 128;
  const panelBytes = <usize>f << 5;
  store<u32>(cursor, 0);
  let count: u32 = 0;
  let first: u32 = 0;
  if (coarse) {
    return queryCoarse(
      query, panels, coarse, items, f, k, allowedBits, readItems, readCount, outItems, outScores, scratch,
    );
  }
  for (; first + 32 <= items; first += 32) {
    const allowed: u32 = allowedBits ? load<u32>(allowedBits + (<usize>first >> 3)) : 0xffffffff;
    if (!allowed) continue;
    const panel = panels + <usize>(first >> 3) * panelBytes;
    const threshold = thresholdOf(outScores, count, k);
    const panel2 = panel + panelBytes * 2;
    if (scoreQuad(query, panel, panel + panelBytes, panel2, panel2 + panelBytes, f, threshold, tile)) {
      count = offerScores(tile, first, 32, k, allowed, readItems, readCount, cursor, outItems, outScores, count);
    }
  }
  for (; first < items; first += 8) {
    const allowed: u32 = allowedBits ? load<u8>(allowedBits + (<usize>first >> 3)) : 255;
    scorePanel(query, panels + <usize>(first >> 3) * panelBytes, f, tile);
    const lanes = min<u32>(8, items - first);
    count = offerScores(tile, first, lanes, k, allowed, readItems, readCount, cursor, outItems, outScores, count);
  }
  sortHeap(outItems, outScores, count);
  return count;
}
