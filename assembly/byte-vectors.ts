// A query of int16 against vectors of int8, in whole numbers until the end: a load that widens 8 bytes and a
// multiply-add of pairs for 8 numbers, at the speed of memory.
//
// Record: numbers, `length` int8 | scale, float32 | offset, float32 | 8 bytes that belong to the caller.

/** Bytes of a record behind its numbers. */
const TAIL: usize = 16;

// @ts-ignore: decorator
@inline
function scoreOf(record: usize, length: u32, query: usize, queryScale: f32): f32 {
  let a0 = i32x4.splat(0);
  let a1 = i32x4.splat(0);
  let q = query;
  let at = record;
  const end = at + length;
  for (; at < end; at += 16, q += 32) {
    a0 = i32x4.add(a0, i32x4.dot_i16x8_s(v128.load_ext<i8>(at), v128.load(q)));
    a1 = i32x4.add(a1, i32x4.dot_i16x8_s(v128.load_ext<i8>(at, 8), v128.load(q, 16)));
  }
  const a = i32x4.add(a0, a1);
  const sum =
    i32x4.extract_lane(a, 0) + i32x4.extract_lane(a, 1) + i32x4.extract_lane(a, 2) + i32x4.extract_lane(a, 3);
  return <f32>sum * (load<f32>(at) * queryScale) + load<f32>(at, 4);
}

export function scanBytes(
  records: usize, count: u32, length: u32, query: usize, queryScale: f32, threshold: f32, outPlaces: usize,
  outScores: usize,
): u32 {
  assert(!(length & 15) && !((records | query) & 15));
  let found: usize = 0;
  let record = records;
  for (let place: u32 = 0; place < count; place++, record += <usize>length + TAIL) {
    const score = scoreOf(record, length, query, queryScale);
    if (!(score > threshold)) continue;
    store<u32>(outPlaces + (found << 2), place);
    store<f32>(outScores + (found << 2), score);
    found++;
  }
  return <u32>found;
}

export function nearestBytes(
  records: usize, count: u32, length: u32, centers: usize, starts: usize, groups: usize, groupCount: u32, probes: u32,
  out: usize, scratch: usize,
): void {
  assert(!(length & 15) && !((records | centers | groups | scratch) & 15));
  const recordBytes = <usize>length + TAIL;
  const scores = scratch + (length << 1);
  for (let at: u32 = 0; at < count; at++) {
    const record = records + <usize>at * recordBytes;
    for (let n: usize = 0; n < length; n += 8) v128.store(scratch + (n << 1), v128.load_ext<i8>(record + n));
    for (let group: u32 = 0; group < groupCount; group++)
      store<f32>(scores + (<usize>group << 2), scoreOf(groups + <usize>group * recordBytes, length, scratch, 1));
    let best: u32 = load<u32>(starts);
    let bestScore: f32 = -Infinity;
    for (let probe: u32 = 0; probe < min(probes, groupCount); probe++) {
      let near: u32 = 0;
      for (let group: u32 = 1; group < groupCount; group++)
        if (load<f32>(scores + (group << 2)) > load<f32>(scores + (near << 2))) near = group;
      store<f32>(scores + (near << 2), -Infinity);
      const end = load<u32>(starts + (near << 2), 4);
      for (let center = load<u32>(starts + (near << 2)); center < end; center++) {
        const score = scoreOf(centers + <usize>center * recordBytes, length, scratch, 1);
        if (!(score > bestScore)) continue;
        bestScore = score;
        best = center;
      }
    }
    store<u32>(out + (at << 2), best);
  }
}
