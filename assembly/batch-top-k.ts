// Many queries against all items: a 4 x 8 tile of inner products, compared with the queries' thresholds while still
// in registers, so that a tile without a newcomer never reaches memory.
//
//   packed queries, k-major:  q[k] = [u0 u1 u2 u3]          (splat loads, 4 bytes apart)
//   panel, k-major:           p[k] = [i0 i1 .. i7]          (two vector loads, 32 bytes apart)
//
// Loops: blocks of 64 queries (packed once) > chunks of panels that stay in the second-level cache > groups of 4
// queries > panels.

import { multiplyAdd } from './fused';
import { offer, thresholdOf, sortHeap, isFiniteScore } from './heap';

const GROUP: u32 = 4;
const BLOCK: u32 = 64;
/** Bytes of panels scanned by every group of a block before the next chunk. */
const CHUNK_BYTES: u32 = 1 << 19;

export function packPanels(factors: usize, rows: u32, f: u32, out: usize): void {
  const rowBytes = <usize>f << 2;
  const panels = (rows + 7) >> 3;
  for (let panel: u32 = 0; panel < panels; panel++) {
    for (let lane: u32 = 0; lane < 8; lane++) {
      const row = (panel << 3) + lane;
      const to = out + <usize>panel * (rowBytes << 3) + (<usize>lane << 2);
      for (let k: usize = 0; k < <usize>f; k++) {
        store<f32>(to + (k << 5), row < rows ? load<f32>(factors + <usize>row * rowBytes + (k << 2)) : 0);
      }
    }
  }
}

function packQueries(queries: usize, count: u32, f: u32, out: usize): void {
  const groups = (count + 3) >> 2;
  const rowBytes = <usize>f << 2;
  for (let lane: u32 = 0; lane < groups << 2; lane++) {
    const to = out + <usize>(lane >> 2) * (rowBytes << 2) + (<usize>(lane & 3) << 2);
    for (let k: usize = 0; k < <usize>f; k++) {
      store<f32>(to + (k << 4), lane < count ? load<f32>(queries + <usize>lane * rowBytes + (k << 2)) : 0);
    }
  }
}

/** Scores 4 queries x 8 items. @returns whether any beats its query's threshold; only then the tile is written. */
function scoreTile(query: usize, panel: usize, f: u32, thresholds: usize, tile: usize): bool {
  let a0 = f32x4.splat(0);
  let a1 = f32x4.splat(0);
  let a2 = f32x4.splat(0);
  let a3 = f32x4.splat(0);
  let b0 = f32x4.splat(0);
  let b1 = f32x4.splat(0);
  let b2 = f32x4.splat(0);
  let b3 = f32x4.splat(0);
  const end = query + (<usize>f << 4);
  while (query < end) {
    const y0 = v128.load(panel);
    const y1 = v128.load(panel, 16);
    let x = v128.load_splat<f32>(query);
    a0 = multiplyAdd(a0, x, y0);
    b0 = multiplyAdd(b0, x, y1);
    x = v128.load_splat<f32>(query, 4);
    a1 = multiplyAdd(a1, x, y0);
    b1 = multiplyAdd(b1, x, y1);
    x = v128.load_splat<f32>(query, 8);
    a2 = multiplyAdd(a2, x, y0);
    b2 = multiplyAdd(b2, x, y1);
    x = v128.load_splat<f32>(query, 12);
    a3 = multiplyAdd(a3, x, y0);
    b3 = multiplyAdd(b3, x, y1);
    query += 16;
    panel += 32;
  }
  let t = v128.load_splat<f32>(thresholds);
  let hits = v128.or(f32x4.gt(a0, t), f32x4.gt(b0, t));
  t = v128.load_splat<f32>(thresholds, 4);
  hits = v128.or(hits, v128.or(f32x4.gt(a1, t), f32x4.gt(b1, t)));
  t = v128.load_splat<f32>(thresholds, 8);
  hits = v128.or(hits, v128.or(f32x4.gt(a2, t), f32x4.gt(b2, t)));
  t = v128.load_splat<f32>(thresholds, 12);
  hits = v128.or(hits, v128.or(f32x4.gt(a3, t), f32x4.gt(b3, t)));
  if (!v128.any_true(hits)) return false;
  v128.store(tile, a0);
  v128.store(tile, b0, 16);
  v128.store(tile, a1, 32);
  v128.store(tile, b1, 48);
  v128.store(tile, a2, 64);
  v128.store(tile, b2, 80);
  v128.store(tile, a3, 96);
  v128.store(tile, b3, 112);
  return true;
}

/** Which of a query's 8 scores beat its threshold. */
// @ts-ignore: decorator
@inline
function hitsOf(tile: usize, threshold: usize): u32 {
  const t = v128.load_splat<f32>(threshold);
  const low = i32x4.bitmask(f32x4.gt(v128.load(tile), t));
  const high = i32x4.bitmask(f32x4.gt(v128.load(tile, 16), t));
  return <u32>low | (<u32>high << 4);
}

/** Offers the lanes set in `hits`; `cursor` points at the query's place in its read list, which only moves forward. */
function offerLanes(
  tile: usize, hits: u32, panel: u32, items: u32, k: u32, cursor: usize, readItems: usize, readEnd: u32,
  outItems: usize, outScores: usize, outCount: usize, threshold: usize,
): void {
  let limit = load<f32>(threshold);
  let count = load<u32>(outCount);
  for (; hits; hits &= hits - 1) {
    const lane = ctz<u32>(hits);
    const score = load<f32>(tile + (<usize>lane << 2));
    if (!(score > limit) || !isFiniteScore(score)) continue;
    const item = (panel << 3) + lane;
    if (item >= items) break;
    let at = load<u32>(cursor);
    while (at < readEnd && load<u32>(readItems + (<usize>at << 2)) < item) at++;
    store<u32>(cursor, at);
    if (at < readEnd && load<u32>(readItems + (<usize>at << 2)) == item) continue;
    count = offer(outItems, outScores, count, k, score, item);
    limit = thresholdOf(outScores, count, k);
  }
  store<u32>(outCount, count);
  store<f32>(threshold, limit);
}

/** Scans panels [firstPanel, endPanel) for the 4 queries from `first`, of which `live` exist. */
function scanGroup(
  packed: usize, first: u32, live: u32, panels: usize, firstPanel: u32, endPanel: u32, f: u32, items: u32, k: u32,
  allowedBits: usize, readStarts: usize, readItems: usize, outItems: usize, outScores: usize, outCounts: usize,
  thresholds: usize, cursors: usize, tile: usize,
): void {
  const panelBytes = <usize>f << 5;
  for (let panel = firstPanel; panel < endPanel; panel++) {
    const allowed: u32 = allowedBits ? load<u8>(allowedBits + panel) : 255;
    if (!allowed) continue;
    if (!scoreTile(packed, panels + <usize>panel * panelBytes, f, thresholds, tile)) continue;
    for (let u: u32 = 0; u < live; u++) {
      const query = <usize>(first + u);
      const threshold = thresholds + (<usize>u << 2);
      const hits = hitsOf(tile + (<usize>u << 5), threshold) & allowed;
      if (!hits) continue;
      offerLanes(
        tile + (<usize>u << 5), hits, panel, items, k, cursors + (<usize>u << 2), readItems,
        readStarts ? load<u32>(readStarts + (query << 2), 4) : 0,
        outItems + ((query * k) << 2), outScores + ((query * k) << 2), outCounts + (query << 2),
        threshold,
      );
    }
  }
}

export function batchTopK(
  queries: usize, rows: u32, panels: usize, items: u32, f: u32, k: u32, allowedBits: usize, readStarts: usize,
  readItems: usize, outItems: usize, outScores: usize, outCounts: usize, scratch: usize,
): void {
  assert(k > 0 && !((queries | panels | scratch) & 3));
  const rowBytes = <usize>f << 2;
  const packed = scratch + 128;
  const thresholds = packed + <usize>BLOCK * rowBytes;
  const cursors = thresholds + (<usize>BLOCK << 2);
  const panelCount = (items + 7) >> 3;
  const chunk = max<u32>(1, CHUNK_BYTES / max<u32>(1, f << 5));
  for (let start: u32 = 0; start < rows; start += BLOCK) {
    const count = min<u32>(BLOCK, rows - start);
    packQueries(queries + <usize>start * rowBytes, count, f, packed);
    for (let u: u32 = 0; u < BLOCK; u++) {
      // A place without a query can never be beaten.
      store<f32>(thresholds + (<usize>u << 2), u < count ? -Infinity : Infinity);
      if (u >= count) continue;
      store<u32>(cursors + (<usize>u << 2), readStarts ? load<u32>(readStarts + (<usize>(start + u) << 2)) : 0);
      store<u32>(outCounts + (<usize>(start + u) << 2), 0);
    }
    for (let panel: u32 = 0; panel < panelCount; panel += chunk) {
      for (let u: u32 = 0; u < count; u += GROUP) {
        scanGroup(
          packed + <usize>u * rowBytes, start + u, min<u32>(GROUP, count - u), panels, panel,
          min<u32>(panelCount, panel + chunk), f, items, k, allowedBits, readStarts, readItems, outItems, outScores,
          outCounts, thresholds + (<usize>u << 2), cursors + (<usize>u << 2), scratch,
        );
      }
    }
    for (let u: u32 = 0; u < count; u++) {
      const query = <usize>(start + u);
      sortHeap(outItems + ((query * k) << 2), outScores + ((query * k) << 2), load<u32>(outCounts + (query << 2)));
    }
  }
}
