import { expect, test } from 'vitest';
import { createRandom } from '../../../src/domain/random.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { setBit } from '../../../src/memory/bits.ts';
import { arrayOf, viewOf } from '../../../src/memory/memory-layout.ts';
import { MfScorer, placeModel } from '../../../src/model/als/mf-scorer.ts';
import { HEADED_ITEMS_MIN } from '../../../src/model/als/place-heads.ts';

const F = 32;
const USERS = 70;
const K = 20;
const settings = { factors: F, regularization: 0.1, unobservedWeight: 0.1, regularizationExponent: 1 };

/** A model whose items' norms fall with `fall`, in no order of their rows. */
function placed(itemCount: number, fall: number) {
  const random = createRandom(1);
  const draw = (rows: number, power: number) => {
    const factors = new Float32Array(rows * F);
    for (let row = 0; row < rows; row++) {
      const norm = random.float() ** power;
      for (let at = 0; at < F; at++) factors[row * F + at] = (norm * random.normal()) / (1 + at);
    }
    return factors;
  };
  const factors = { userFactors: draw(USERS, 0), itemFactors: draw(itemCount, fall) };
  const model = {
    ...settings,
    ...factors,
    itemCount,
    userCount: USERS,
    seed: 1,
    fingerprint: 1,
    quality: {},
  };
  return placeModel(model, loadKernels, 2, 64 * K);
}

test('has heads where items are many and their norms fall fast', () => {
  expect(placed(HEADED_ITEMS_MIN, 9).headed).toBe(true);
  expect(placed(HEADED_ITEMS_MIN - 1, 9).headed).toBe(false);
  expect(placed(HEADED_ITEMS_MIN, 0).headed).toBe(false);
});

test('makes the same lists by heads, whoever is asked together and in whichever slot', () => {
  const model = placed(HEADED_ITEMS_MIN + 13, 9);
  const kernels = loadKernels(model.memory);
  const plain = new MfScorer({ ...model, headed: false }, kernels, 0);
  const random = createRandom(2);
  const allowed = new Uint32Array(Math.ceil(model.header.itemCount / 32));
  for (let row = 0; row < model.header.itemCount; row++) if (random.float() < 0.8) setBit(allowed, row);
  const asked = Array.from({ length: USERS }, (_, user) => ({
    vector: plain.userVector(user)!,
    read: Array.from({ length: 200 }, () => random.below(model.header.itemCount + 9)).sort((a, b) => a - b),
  }));
  const expected = plain.recommendMany(asked, K, allowed);
  const scores = asked.map(({ vector, read }) => plain.recommend(vector, K, read, allowed).scores);
  // The scan of all finds nothing any more: who makes the same lists goes by heads.
  for (const name of ['panels', 'coarse'] as const)
    viewOf(model.memory, model.layout, name, arrayOf(model.layout, name).type).fill(0);
  expect(plain.recommendMany(asked, K, allowed)).not.toEqual(expected);
  for (const slot of [0, 1]) {
    const scorer = new MfScorer(model, kernels, slot);
    expect(scorer.recommendMany(asked, K, allowed)).toEqual(expected);
    expect(asked.flatMap((one) => scorer.recommendMany([one], K, allowed))).toEqual(expected);
    const alone = asked.map(({ vector, read }) => scorer.recommend(vector, K, read, allowed));
    expect(alone.map(({ itemRows }) => itemRows)).toEqual(expected);
    expect(alone.map((list) => list.scores)).toEqual(scores);
  }
});
