import { describe, expect, it } from 'vitest';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { fmScratchBytes } from '../../../src/kernel/scratch-sizes.ts';
import { Arena } from '../../../src/memory/arena.ts';
import { createSharedMemory } from '../../../src/memory/shared-memory.ts';
import { FmScorer, placeFm } from '../../../src/model/click/fm-scorer.ts';
import type { FmModel } from '../../../src/model/click/model.ts';

/** 2 users, 3 items, the label "gold" of users, the labels "film" and "short" of items; 2 factors. */
const model: FmModel = {
  factors: 2,
  epochs: 3,
  userCount: 2,
  itemCount: 3,
  userLabels: ['gold'],
  itemLabels: ['film', 'short'],
  bias: 0.5,
  calibration: { slope: 2, offset: -1 },
  positiveRate: 0.2,
  negativesPerPositive: 4,
  seed: 1,
  fingerprint: 7,
  quality: {},
  // users 0 and 1, items 0 to 2, gold, film, short
  linear: Float32Array.of(0.1, 0.2, 1, 2, 3, 0.25, -0.5, 4),
  vectors: Float32Array.from(
    [
      [1, 0],
      [0, 2],
      [1, 1],
      [2, 0],
      [0, 1],
      [0.5, 1],
      [1, -1],
      [3, 1],
    ].flatMap(([a, b]) => [a!, b!, 0, 0]),
  ),
};
const itemLabels = [['film'], ['short', 'film', 'nobody knows this one'], []];
const placed = placeFm(model, (row) => itemLabels[row]!, 3);
const scorer = new FmScorer(placed, loadKernels(placed.memory), 2);

/** The logit of a row of features by the kernel. */
function logit(entries: readonly (readonly [feature: number, value: number])[]): number {
  const arena = new Arena(createSharedMemory(4096));
  const place = (values: ArrayLike<number>) => {
    const at = arena.alloc(values.length * 4);
    arena.f32(at, values.length).set(values);
    return at;
  };
  const starts = arena.alloc(8);
  arena.u32(starts, 2).set([0, entries.length]);
  const features = arena.alloc(entries.length * 4);
  arena.u32(features, entries.length).set(entries.map(([feature]) => feature));
  const outScores = arena.alloc(4);
  loadKernels(arena.memory).fmScoreRows({
    starts,
    features,
    values: place(entries.map(([, value]) => value)),
    firstRow: 0,
    endRow: 1,
    bias: place([model.bias]),
    linear: place(model.linear),
    factors: place(model.vectors),
    f: 4,
    outScores,
    scratch: arena.alloc(fmScratchBytes(4)),
  });
  return arena.f32(outScores, 1)[0]!;
}

describe('a placed click-through model', () => {
  it('scores as worked out by hand', () => {
    // User 0 with gold: s = (1.5, 1), c = 0.5 + 0.1 + 0.25 + <(1, 0), (0.5, 1)> = 1.35.
    // Item 2 without labels: s = (0, 1), c = 3. Together 1.35 + 3 + 1.
    const [score] = scorer.logits(scorer.userSide(0, ['gold']), [2]);
    expect(score).toBeCloseTo(5.35, 5);
  });

  it('scores as the kernel does on the same features', () => {
    const half = Math.SQRT1_2;
    const [first, second] = scorer.logits(scorer.userSide(1, ['gold']), [0, 1]);
    // user 1, item 0, gold, film
    const expected = logit([
      [1, 1],
      [2, 1],
      [5, 1],
      [6, 1],
    ]);
    expect(first).toBeCloseTo(expected, 4);
    // Two known labels share a length of 1; the third has no feature.
    const both = logit([
      [1, 1],
      [3, 1],
      [5, 1],
      [6, half],
      [7, half],
    ]);
    expect(second).toBeCloseTo(both, 4);
  });

  it('knows a user that came later by its labels, and one without labels by nothing', () => {
    expect(scorer.userSide(2, ['gold'])).toEqual(scorer.userSide(-1, ['gold', 'gold', 'unheard of']));
    expect(scorer.userSide(2, [])).toEqual({ constant: 0.5, vector: new Float32Array(2) });
    const [score] = scorer.logits(scorer.userSide(99, []), [2]);
    expect(score).toBeCloseTo(3.5, 6);
  });

  it('knows an item that came later by the half that it is given', () => {
    const user = scorer.userSide(0, []);
    const [plain, film, known] = scorer.logits(user, [3, 4, 2], (row) =>
      scorer.itemSideOf(row === 4 ? ['film'] : []),
    );
    expect(plain).toBeCloseTo(0.6, 6);
    expect(film).toBeCloseTo(0.6 - 0.5 + 1, 6);
    expect(known).toBeCloseTo(0.6 + 3, 6);
    expect(scorer.logits(user, [3])[0]).toBeCloseTo(0.6, 6);
  });

  it('scores lists longer than its scratch, and none', () => {
    const user = scorer.userSide(0, ['gold']);
    const rows = Array.from({ length: 2500 }, (_, at) => at % 3);
    const logits = scorer.logits(user, rows);
    const [a, b, c] = scorer.logits(user, [0, 1, 2]);
    expect(logits.every((score, at) => score === [a, b, c][at % 3])).toBe(true);
    expect(scorer.logits(user, [])).toHaveLength(0);
  });

  it('gives probabilities by its calibration', () => {
    expect(scorer.probability(0.5)).toBe(0.5);
    expect(scorer.probability(1)).toBeCloseTo(1 / (1 + Math.exp(-1)), 12);
  });

  it('says the same in every thread: slots do not share scratch, and plain data describes it', () => {
    const copy = { ...structuredClone({ ...placed, memory: null }), memory: placed.memory };
    const other = new FmScorer(copy, loadKernels(placed.memory), 0);
    const user = scorer.userSide(1, []);
    expect(other.logits(user, [0, 1, 2])).toEqual(scorer.logits(user, [0, 1, 2]));
    expect(() => new FmScorer(placed, loadKernels(placed.memory), 3)).toThrow(RangeError);
  });

  it('refuses parameters that are not finite or do not fit', () => {
    const linear = model.linear.with(2, Number.NaN);
    expect(() => placeFm({ ...model, linear }, () => [])).toThrow('not finite');
    expect(() => placeFm({ ...model, itemCount: 4 }, () => [])).toThrow('shape');
  });
});
