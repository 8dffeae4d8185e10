// Factors as bytes, a quarter of the memory that a scan for one query has to read: what cannot reach the list is ruled
// out from them, the rest is scored exactly. 32 items a panel, pairs of factors side by side, then the items' scales:
//
//   k=0,1: [i0k0 i0k1 i1k0 i1k1 .. i31k0 i31k1]   k=2,3: ..   [scale0 .. scale31]
//
// With y = scale q + d, |d| <= scale / 2, and a query x = unit p + e, |e| <= unit / 2,
//
//   x·y <= scale (unit p·q + |x|₁ / 2 + unit |q|₁ / 2)  <=  scale (unit p·q + slack)
//
// where `slack` also holds what rounding can do to either side of the comparison, so that nothing is ruled out that the
// exact scan would keep. Rows that are not finite have a NaN for scale and are never kept, as there.

const LARGEST: f32 = 127;
/** Below these, products could underflow; such items and queries are coarser or not ruled out. */
const SCALE_MIN: f32 = 1e-20;
const QUERY_MIN: f32 = 1e-15;

/** The nearest integer within the bound, 0 for NaN. */
// @ts-ignore: decorator
@inline
function rounded(value: f32, bound: f32): i32 {
  return value == value ? <i32>max<f32>(-bound, min<f32>(bound, nearest<f32>(value))) : 0;
}

export function packCoarse(factors: usize, rows: u32, f: u32, out: usize): void {
  const rowBytes = <usize>f << 2;
  const panelBytes = (<usize>f << 5) + 128;
  for (let row: u32 = 0; row < ((rows + 31) & ~31); row++) {
    const panel = out + <usize>(row >> 5) * panelBytes;
    const from = factors + <usize>row * rowBytes;
    const lane = <usize>(row & 31);
    let largest: f32 = 0;
    let isFinite: bool = true;
    if (row < rows) {
      for (let at: usize = 0; at < rowBytes; at += 4) {
        const value = abs(load<f32>(from + at));
        isFinite = isFinite && value < Infinity;
        largest = max(largest, value);
      }
    }
    const scale = max(largest / LARGEST, SCALE_MIN);
    store<f32>(panel + (<usize>f << 5) + (lane << 2), row >= rows ? 0 : isFinite ? scale : NaN);
    const scales = f32x4.splat(scale);
    for (let k: usize = 0; k < <usize>f; k += 4) {
      const values = row < rows ? v128.load(from + (k << 2)) : f32x4.splat(0);
      const q = i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.div(values, scales)));
      const bytes = i8x16.narrow_i16x8_s(i16x8.narrow_i32x4_s(q, q), i16x8.splat(0));
      const to = panel + (k << 5) + (lane << 1);
      v128.store_lane<u16>(to, bytes, 0);
      v128.store_lane<u16>(to, bytes, 1, 64);
    }
  }
}

/**
 * Writes the query as 16-bit integers, f of them, then its unit and slack as two float32.
 * The integers are small enough that f products with bytes do not overflow 32 bits.
 */
export function packQuery(query: usize, f: u32, out: usize): void {
  const end = query + (<usize>f << 2);
  let largest: f32 = 0;
  let sum: f64 = 0;
  for (let at = query; at < end; at += 4) {
    const value = abs(load<f32>(at));
    largest = max(largest, value);
    sum += value;
  }
  const range = min<f64>(32767, floor(2147483647.0 / (127.0 * <f64>f)));
  const unit = <f32>(<f64>largest / range);
  for (let at = query; at < end; at += 4, out += 2) {
    store<i16>(out, <i16>rounded(load<f32>(at) / unit, 32767));
  }
  const magnitude = sum + <f64>f * unit;
  const rounding = 128.0 * <f64>(f + 16) * magnitude / 8388608;
  const slack = 1.001 * (0.5 * sum + 63.5 * <f64>f * unit) + rounding;
  store<f32>(out, unit);
  store<f32>(out, largest == 0 ? 0 : largest < QUERY_MIN ? Infinity : <f32>slack, 4);
}

/** @returns a bit for each of a panel's 32 items that may beat the threshold */
export function reachCoarse(query: usize, panel: usize, f: u32, threshold: f32): u32 {
  let a0 = i32x4.splat(0);
  let a1 = i32x4.splat(0);
  let a2 = i32x4.splat(0);
  let a3 = i32x4.splat(0);
  let a4 = i32x4.splat(0);
  let a5 = i32x4.splat(0);
  let a6 = i32x4.splat(0);
  let a7 = i32x4.splat(0);
  for (const end = query + (<usize>f << 1); query < end; query += 4, panel += 64) {
    const x = v128.load_splat<u32>(query);
    a0 = i32x4.add(a0, i32x4.dot_i16x8_s(x, v128.load_ext<i8>(panel)));
    a1 = i32x4.add(a1, i32x4.dot_i16x8_s(x, v128.load_ext<i8>(panel, 8)));
    a2 = i32x4.add(a2, i32x4.dot_i16x8_s(x, v128.load_ext<i8>(panel, 16)));
    a3 = i32x4.add(a3, i32x4.dot_i16x8_s(x, v128.load_ext<i8>(panel, 24)));
    a4 = i32x4.add(a4, i32x4.dot_i16x8_s(x, v128.load_ext<i8>(panel, 32)));
    a5 = i32x4.add(a5, i32x4.dot_i16x8_s(x, v128.load_ext<i8>(panel, 40)));
    a6 = i32x4.add(a6, i32x4.dot_i16x8_s(x, v128.load_ext<i8>(panel, 48)));
    a7 = i32x4.add(a7, i32x4.dot_i16x8_s(x, v128.load_ext<i8>(panel, 56)));
  }
  const unit = v128.load_splat<f32>(query);
  const slack = v128.load_splat<f32>(query, 4);
  const t = f32x4.splat(threshold);
  a0 = isOver(a0, unit, slack, t, panel);
  a1 = isOver(a1, unit, slack, t, panel + 16);
  a2 = isOver(a2, unit, slack, t, panel + 32);
  a3 = isOver(a3, unit, slack, t, panel + 48);
  a4 = isOver(a4, unit, slack, t, panel + 64);
  a5 = isOver(a5, unit, slack, t, panel + 80);
  a6 = isOver(a6, unit, slack, t, panel + 96);
  a7 = isOver(a7, unit, slack, t, panel + 112);
  // Eight masks of 4 lanes become 32 bytes, of which each gives a bit.
  const low = i8x16.narrow_i16x8_s(i16x8.narrow_i32x4_s(a0, a1), i16x8.narrow_i32x4_s(a2, a3));
  const high = i8x16.narrow_i16x8_s(i16x8.narrow_i32x4_s(a4, a5), i16x8.narrow_i32x4_s(a6, a7));
  return <u32>i8x16.bitmask(low) | (<u32>i8x16.bitmask(high) << 16);
}

// @ts-ignore: decorator
@inline
function isOver(sums: v128, unit: v128, slack: v128, threshold: v128, scales: usize): v128 {
  const reach = f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(sums), unit), slack);
  return f32x4.gt(f32x4.mul(reach, v128.load(scales)), threshold);
}
