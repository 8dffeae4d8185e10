// Vectors of float32. Lanes: [x0 x1 x2 x3] per v128.

import { multiplyAdd } from './multiply-add';

// @ts-ignore: decorator
@inline
export function sumLanes(v: v128): f32 {
  const pairs = f32x4.add(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1));
  return f32x4.extract_lane(pairs, 0) + f32x4.extract_lane(pairs, 1);
}

/** [Σa Σb Σc Σd] of four vectors: two interleaving steps instead of four reductions. */
// @ts-ignore: decorator
@inline
export function sumLanes4(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = f32x4.add(v128.shuffle<f32>(a, b, 0, 4, 1, 5), v128.shuffle<f32>(a, b, 2, 6, 3, 7));
  const cd = f32x4.add(v128.shuffle<f32>(c, d, 0, 4, 1, 5), v128.shuffle<f32>(c, d, 2, 6, 3, 7));
  return f32x4.add(v128.shuffle<f32>(ab, cd, 0, 1, 4, 5), v128.shuffle<f32>(ab, cd, 2, 3, 6, 7));
}

export function dot(a: usize, b: usize, n: u32): f32 {
  let s0 = f32x4.splat(0);
  let s1 = f32x4.splat(0);
  const end8 = a + ((<usize>n & ~7) << 2);
  while (a < end8) {
    s0 = multiplyAdd(s0, v128.load(a), v128.load(b));
    s1 = multiplyAdd(s1, v128.load(a, 16), v128.load(b, 16));
    a += 32;
    b += 32;
  }
  if (n & 4) {
    s0 = multiplyAdd(s0, v128.load(a), v128.load(b));
    a += 16;
    b += 16;
  }
  let sum = sumLanes(f32x4.add(s0, s1));
  for (let i: u32 = 0; i < (n & 3); i++) {
    sum += load<f32>(a) * load<f32>(b);
    a += 4;
    b += 4;
  }
  return sum;
}

export function addScaled(target: usize, source: usize, factor: f32, n: u32): void {
  const factors = f32x4.splat(factor);
  const end4 = target + ((<usize>n & ~3) << 2);
  while (target < end4) {
    v128.store(target, multiplyAdd(v128.load(target), factors, v128.load(source)));
    target += 16;
    source += 16;
  }
  for (let i: u32 = 0; i < (n & 3); i++) {
    store<f32>(target, load<f32>(target) + factor * load<f32>(source));
    target += 4;
    source += 4;
  }
}

export function countNonFinite(values: usize, n: u32): u32 {
  const exponents = i32x4.splat(0x7f800000);
  let counts = i32x4.splat(0);
  const end4 = values + ((<usize>n & ~3) << 2);
  // A lane that is equal is -1.
  for (; values < end4; values += 16) {
    counts = i32x4.sub(counts, i32x4.eq(v128.and(v128.load(values), exponents), exponents));
  }
  let count: u32 = i32x4.extract_lane(counts, 0) + i32x4.extract_lane(counts, 1);
  count += i32x4.extract_lane(counts, 2) + i32x4.extract_lane(counts, 3);
  for (let i: u32 = 0; i < (n & 3); i++, values += 4) count += u32((load<u32>(values) & 0x7f800000) == 0x7f800000);
  return count;
}

export function scoreItems(query: usize, factors: usize, f: u32, items: usize, count: u32, scores: usize): void {
  const rowBytes = <usize>f << 2;
  for (let i: u32 = 0; i < count; i++) {
    const row = factors + <usize>load<u32>(items + (<usize>i << 2)) * rowBytes;
    store<f32>(scores + (<usize>i << 2), dot(query, row, f));
  }
}
