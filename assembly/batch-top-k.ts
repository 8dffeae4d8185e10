// Many queries against all items in tiles of 4 queries x 8 items. Newcomers go to shortlists (top-k-shortlist.ts).
// Where there are heads of the items (head-scan.ts) and few items can reach a list, only those are scored.
//
// Loops: blocks of 64 queries (packed once) > chunks of panels that stay in the second-level cache > groups of 4
// queries > panels.

import { scanHeads } from './head-scan';
import { packQueries, scoreTile } from './score-tile';
import { isFiniteScore } from './top-k-heap';
import { finishList, keepBest, SPARE_MAX, spareOf } from './top-k-shortlist';

const GROUP: u32 = 4;
const BLOCK: u32 = 64;
/** Bytes of panels scanned by every group of a block before the next chunk. */
const CHUNK_BYTES: u32 = 1 << 19;
/** The places beyond the first k of one query: scores, then items. */
const SPARE_BYTES: usize = <usize>SPARE_MAX << 3;

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

/** True when the read list at `cursor`, which only moves forward, has the item. */
// @ts-ignore: decorator
@inline
function isRead(cursor: usize, readItems: usize, end: u32, item: u32): bool {
  let at = load<u32>(cursor);
  while (at < end && load<u32>(readItems + (<usize>at << 2)) < item) at++;
  store<u32>(cursor, at);
  return at < end && load<u32>(readItems + (<usize>at << 2)) == item;
}

/** Scans panels [firstPanel, endPanel) for the 4 queries from `first`. */
function scanGroup(
  packed: usize, first: u32, panels: usize, firstPanel: u32, endPanel: u32, f: u32, items: u32, k: u32,
  allowedBits: usize, readStarts: usize, readItems: usize, outItems: usize, outScores: usize, outCounts: usize,
  thresholds: usize, cursors: usize, spares: usize, tile: usize,
): void {
  const panelBytes = <usize>f << 5;
  const spare = spareOf(k);
  for (let panel = firstPanel; panel < endPanel; panel++) {
    // A byte has the bits of a panel: the same for each of the queries.
    const allowed: u32 = allowedBits ? load<u8>(allowedBits + <usize>panel) : 255;
    if (!allowed) continue;
    let hits = scoreTile(packed, panels + <usize>panel * panelBytes, f, thresholds, tile) & (allowed * 0x01010101);
    for (; hits; hits &= hits - 1) {
      const bit = ctz<u32>(hits);
      const u = bit >> 3;
      const item = (panel << 3) + (bit & 7);
      const score = load<f32>(tile + (<usize>bit << 2));
      const threshold = thresholds + (<usize>u << 2);
      // The threshold may have risen since, by another item of this panel.
      if (!(score > load<f32>(threshold)) || !isFiniteScore(score) || item >= items) continue;
      const query = <usize>(first + u);
      if (readStarts) {
        const readEnd = load<u32>(readStarts + (query << 2), 4);
        if (isRead(cursors + (<usize>u << 2), readItems, readEnd, item)) continue;
      }
      const place = query * <usize>(k << 2);
      const spareScores = spares + <usize>u * SPARE_BYTES;
      const spareItems = spareScores + (<usize>SPARE_MAX << 2);
      const at = load<u32>(outCounts + (query << 2));
      const offset = <usize>(at < k ? at : at - k) << 2;
      store<f32>((at < k ? outScores + place : spareScores) + offset, score);
      store<u32>((at < k ? outItems + place : spareItems) + offset, item);
      if (at + 1 < k + spare) {
        store<u32>(outCounts + (query << 2), at + 1);
      } else {
        store<f32>(threshold, keepBest(outItems + place, outScores + place, k, spareItems, spareScores, spare));
        store<u32>(outCounts + (query << 2), k);
      }
    }
  }
}

export function batchTopK(
  queries: usize, rows: u32, panels: usize, items: u32, f: u32, k: u32, readStarts: usize,
  readItems: usize, outItems: usize, outScores: usize, outCounts: usize, scratch: usize, allowedBits: usize,
  factors: usize, heads: usize, headLength: u32,
): void {
  assert(k > 0 && !((queries | panels | scratch) & 3));
  const rowBytes = <usize>f << 2;
  const packed = scratch + 128;
  const thresholds = packed + <usize>BLOCK * rowBytes;
  const cursors = thresholds + (<usize>BLOCK << 2);
  const spares = cursors + (<usize>BLOCK << 2);
  const panelCount = (items + 7) >> 3;
  const chunk = max<u32>(1, CHUNK_BYTES / max<u32>(1, f << 5));
  for (let start: u32 = 0; start < rows; start += BLOCK) {
    const count = min<u32>(BLOCK, rows - start);
    if (heads && scanHeads(
      queries + <usize>start * rowBytes, count, factors, items, f, k, readStarts ? readStarts + (<usize>start << 2) : 0,
      readItems, outItems + <usize>start * (<usize>k << 2), outScores + <usize>start * (<usize>k << 2),
      outCounts + (<usize>start << 2), scratch, allowedBits, heads, headLength,
    )) continue;
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
          packed + <usize>u * rowBytes, start + u, panels, panel,
          min<u32>(panelCount, panel + chunk), f, items, k, allowedBits, readStarts, readItems, outItems,
          outScores, outCounts, thresholds + (<usize>u << 2), cursors + (<usize>u << 2),
          spares + <usize>u * SPARE_BYTES, scratch,
        );
      }
    }
    for (let u: u32 = 0; u < count; u++) {
      const query = <usize>(start + u);
      const spareScores = spares + <usize>u * SPARE_BYTES;
      const kept = finishList(
        outItems + ((query * k) << 2), outScores + ((query * k) << 2), load<u32>(outCounts + (query << 2)), k,
        spareScores + (<usize>SPARE_MAX << 2), spareScores,
      );
      store<u32>(outCounts + (query << 2), kept);
    }
  }
}
