// Bayesian personalised ranking (Rendle, Freudenthaler, Gantner, Schmidt-Thieme 2009), one triple a step.

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

/** Whether the ascending columns [low, high) hold `item`. */
function hasItem(columns: usize, low: u32, high: u32, item: u32): bool {
  while (low < high) {
    const middle = low + ((high - low) >> 1);
    const value = load<u32>(columns + (<usize>middle << 2));
    if (value == item) return true;
    if (value < item) low = middle + 1;
    else high = middle;
  }
  return false;
}

/** One step on (user, positive, negative). @returns whether the pair already stood in the right order. */
function stepOn(user: usize, positive: usize, negative: usize, rowBytes: usize, rate: f32, shrink: f32): bool {
  let sum = f32x4.splat(0);
  let sum2 = f32x4.splat(0);
  let k: usize = 0;
  for (; k + 32 <= rowBytes; k += 32) {
    const low = f32x4.sub(v128.load(positive + k), v128.load(negative + k));
    const high = f32x4.sub(v128.load(positive + k, 16), v128.load(negative + k, 16));
    sum = f32x4.add(sum, f32x4.mul(v128.load(user + k), low));
    sum2 = f32x4.add(sum2, f32x4.mul(v128.load(user + k, 16), high));
  }
  if (k < rowBytes) {
    const low = f32x4.sub(v128.load(positive + k), v128.load(negative + k));
    sum = f32x4.add(sum, f32x4.mul(v128.load(user + k), low));
  }
  const margin = sumLanes(f32x4.add(sum, sum2));
  const step = f32x4.splat(rate * sigmoid(-margin));
  const keep = f32x4.splat(1 - shrink);
  for (let at: usize = 0; at < rowBytes; at += 16) {
    const u = v128.load(user + at);
    const i = v128.load(positive + at);
    const j = v128.load(negative + at);
    const push = f32x4.mul(step, u);
    v128.store(user + at, f32x4.add(f32x4.mul(keep, u), f32x4.mul(step, f32x4.sub(i, j))));
    v128.store(positive + at, f32x4.add(f32x4.mul(keep, i), push));
    v128.store(negative + at, f32x4.sub(f32x4.mul(keep, j), push));
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
