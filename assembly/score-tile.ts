// A 4 x 8 tile of inner products, compared with the queries' thresholds while still in registers, so that a tile without
// a newcomer never reaches memory.
//
//   packed queries, k-major:  q[k] = [u0 u1 u2 u3]          (splat loads, 4 bytes apart)
//   panel, k-major:           p[k] = [i0 i1 .. i7]          (two vector loads, 32 bytes apart)

import { multiplyAdd } from './multiply-add';

/** Packs the first f of the `stride` numbers of each query. */
export function packQueries(queries: usize, count: u32, f: u32, out: usize, stride: u32 = f): void {
  const groups = (count + 3) >> 2;
  const rowBytes = <usize>f << 2;
  for (let lane: u32 = 0; lane < groups << 2; lane++) {
    const to = out + <usize>(lane >> 2) * (rowBytes << 2) + (<usize>(lane & 3) << 2);
    for (let k: usize = 0; k < <usize>f; k++) {
      store<f32>(to + (k << 4), lane < count ? load<f32>(queries + <usize>lane * (<usize>stride << 2) + (k << 2)) : 0);
    }
  }
}

/** Bits of the scores of two queries, 8 items each, that beat their thresholds. */
// @ts-ignore: decorator
@inline
function hitsOf(a0: v128, b0: v128, a1: v128, b1: v128, thresholds: usize): u32 {
  const t0 = v128.load_splat<f32>(thresholds);
  const t1 = v128.load_splat<f32>(thresholds, 4);
  const first = i16x8.narrow_i32x4_s(f32x4.gt(a0, t0), f32x4.gt(b0, t0));
  const second = i16x8.narrow_i32x4_s(f32x4.gt(a1, t1), f32x4.gt(b1, t1));
  return i8x16.bitmask(i8x16.narrow_i16x8_s(first, second));
}

/** Scores 4 queries x 8 items. @returns bit 8 u + i where item i beats query u's threshold; without one, nothing is written. */
export function scoreTile(query: usize, panel: usize, f: u32, thresholds: usize, tile: usize): u32 {
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
  const low = hitsOf(a0, b0, a1, b1, thresholds);
  const hits = low | (hitsOf(a2, b2, a3, b3, thresholds + 8) << 16);
  if (!hits) return 0;
  v128.store(tile, a0);
  v128.store(tile, b0, 16);
  v128.store(tile, a1, 32);
  v128.store(tile, b1, 48);
  v128.store(tile, a2, 64);
  v128.store(tile, b2, 80);
  v128.store(tile, a3, 96);
  v128.store(tile, b3, 112);
  return hits;
}
