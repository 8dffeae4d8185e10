// A query of int16 against vectors of int8, in whole numbers until the end: a load that widens 8 bytes and a
// multiply-add of pairs for 8 numbers, at the speed of memory.
//
// Record: numbers, `length` int8 | scale, float32 | offset, float32 | 8 bytes that belong to the caller.

/** Bytes of a record behind its numbers. */
const TAIL: usize = 16;

export function scanBytes(
  records: usize, count: u32, length: u32, query: usize, queryScale: f32, threshold: f32, outPlaces: usize,
  outScores: usize,
): u32 {
  assert(!(length & 15) && !((records | query) & 15));
  let found: usize = 0;
  let at = records;
  for (let place: u32 = 0; place < count; place++) {
    let a0 = i32x4.splat(0);
    let a1 = i32x4.splat(0);
    let q = query;
    const end = at + length;
    for (; at < end; at += 16, q += 32) {
      a0 = i32x4.add(a0, i32x4.dot_i16x8_s(v128.load_ext<i8>(at), v128.load(q)));
      a1 = i32x4.add(a1, i32x4.dot_i16x8_s(v128.load_ext<i8>(at, 8), v128.load(q, 16)));
    }
    const a = i32x4.add(a0, a1);
    const sum =
      i32x4.extract_lane(a, 0) + i32x4.extract_lane(a, 1) + i32x4.extract_lane(a, 2) + i32x4.extract_lane(a, 3);
    const score = <f32>sum * (load<f32>(at) * queryScale) + load<f32>(at, 4);
    at += TAIL;
    if (!(score > threshold)) continue;
    store<u32>(outPlaces + (found << 2), place);
    store<f32>(outScores + (found << 2), score);
    found++;
  }
  return <u32>found;
}
