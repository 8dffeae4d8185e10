// Bayesian personalized ranking (Rendle, Freudenthaler, Gantner, Schmidt-Thieme 2009), one triple a step.

import { sigmoid, sumLanes } from './vector';

/** A negative that the user has is drawn again this often before the sample is given up. */
const TRIES: u32 = 16;

/** xorshift128 (Marsaglia 2003); its four words stand at `state`. */
function nextRandom(state: usize): u32 {
  let t = load<u32>(state, 12);
  const s = load<u32>(state);
  store<u32>(state, load<u32>(state, 8), 12);
  store<u32>(state, load<u32>(state, 4), 8);
  store<u32>(state, s, 4);
  t ^= t << 11;
  t ^= t >> 8;
  t ^= s ^ (s >> 19);
  store<u32>(state, t);
  return t;
}

/** Whether the ascending columns [low, high), at least one, hold `item`; which half is next is selected, not branched on. */
function hasItem(columns: usize, low: u32, high: u32, item: u32): bool {
  let at = columns + (<usize>low << 2);
  for (let length = high - low; length > 1; ) {
    const half = length >> 1;
    const middle = at + (<usize>half << 2);
    at = load<u32>(middle) <= item ? middle : at;
    length -= half;
  }
  return load<u32>(at) == item;
}

/** One step on (user, positive, negative). @returns whether the pair already stood in the right order. */
function stepOn(user: usize, positive: usize, negative: usize, rowBytes: usize, rate: f32, shrink: f32): bool {
  let sum = f32x4.splat(0);
  let sum2 = f32x4.splat(0);
  // The pointers advance: V8 would compute an address that stays the same anew in every turn.
  let u = user;
  let i = positive;
  let j = negative;
  const end = user + rowBytes;
  for (; u + 32 <= end; u += 32, i += 32, j += 32) {
    const low = f32x4.sub(v128.load(i), v128.load(j));
    const high = f32x4.sub(v128.load(i, 16), v128.load(j, 16));
    sum = f32x4.add(sum, f32x4.mul(v128.load(u), low));
    sum2 = f32x4.add(sum2, f32x4.mul(v128.load(u, 16), high));
  }
  if (u < end) {
    const low = f32x4.sub(v128.load(i), v128.load(j));
    sum = f32x4.add(sum, f32x4.mul(v128.load(u), low));
  }
  const margin = sumLanes(f32x4.add(sum, sum2));
  const step = f32x4.splat(rate * sigmoid(-margin));
  const keep = f32x4.splat(1 - shrink);
  // All of a turn is loaded before any of it is stored, since V8 moves no load over a store.
  for (; user + 32 <= end; user += 32, positive += 32, negative += 32) {
    const x = v128.load(user);
    const y = v128.load(positive);
    const z = v128.load(negative);
    const x2 = v128.load(user, 16);
    const y2 = v128.load(positive, 16);
    const z2 = v128.load(negative, 16);
    const push = f32x4.mul(step, x);
    const push2 = f32x4.mul(step, x2);
    v128.store(user, f32x4.add(f32x4.mul(keep, x), f32x4.mul(step, f32x4.sub(y, z))));
    v128.store(positive, f32x4.add(f32x4.mul(keep, y), push));
    v128.store(negative, f32x4.sub(f32x4.mul(keep, z), push));
    v128.store(user, f32x4.add(f32x4.mul(keep, x2), f32x4.mul(step, f32x4.sub(y2, z2))), 16);
    v128.store(positive, f32x4.add(f32x4.mul(keep, y2), push2), 16);
    v128.store(negative, f32x4.sub(f32x4.mul(keep, z2), push2), 16);
  }
  if (user < end) {
    const x = v128.load(user);
    const y = v128.load(positive);
    const z = v128.load(negative);
    const push = f32x4.mul(step, x);
    v128.store(user, f32x4.add(f32x4.mul(keep, x), f32x4.mul(step, f32x4.sub(y, z))));
    v128.store(positive, f32x4.add(f32x4.mul(keep, y), push));
    v128.store(negative, f32x4.sub(f32x4.mul(keep, z), push));
  }
  return margin > 0;
}

export function bprSteps(
  starts: usize, columns: usize, entryUsers: usize, firstEntry: u32, endEntry: u32, items: u32, userFactors: usize,
  itemFactors: usize, f: u32, learningRate: f32, regularization: f32, samples: u32, random: usize,
): u32 {
  assert((f & 3) == 0);
  const rowBytes = <usize>f << 2;
  const entries = endEntry - firstEntry;
  const shrink = learningRate * regularization;
  let ordered: u32 = 0;
  if (entries == 0 || items == 0) return 0;
  for (let sample: u32 = 0; sample < samples; sample++) {
    const entry = <usize>(firstEntry + nextRandom(random) % entries) << 2;
    const user = load<u32>(entryUsers + entry);
    const low = load<u32>(starts + (<usize>user << 2));
    const high = load<u32>(starts + (<usize>user << 2), 4);
    for (let tries: u32 = 0; tries < TRIES; tries++) {
      const negative = nextRandom(random) % items;
      if (hasItem(columns, low, high, negative)) continue;
      const positive = load<u32>(columns + entry);
      ordered += u32(stepOn(
        userFactors + <usize>user * rowBytes, itemFactors + <usize>positive * rowBytes,
        itemFactors + <usize>negative * rowBytes, rowBytes, learningRate, shrink,
      ));
      break;
    }
  }
  return ordered;
}
