import { describe, expect, it } from 'vitest';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { reuseMemory } from '../../../src/memory/reuse-memory.ts';
import { type AskedFold, checkGiven, type GivenRows } from '../../../src/model/given/check-given.ts';
import { givenPart } from '../../../src/model/given/train-and-serve.ts';
import { decodeGiven, encodeGiven, type GivenModel, idsOf } from '../../../src/model/part/given-model.ts';
import { solveSymmetric } from '../../../src/model/regression/logistic-regression.ts';

const NO_ROWS: GivenRows = { ids: [], vectors: [] };
const ALL_KNOWN = { item: () => true, user: () => true };
const ITEMS: GivenRows = {
  ids: ['a', 'b', 'c', 'd'],
  vectors: [
    [1, 0, 0.5],
    [0, 1, 0.25],
    [1, 1, 0],
    [0, 0, 0],
  ],
};

const check = (items: Partial<GivenRows>, users = NO_ROWS, asked: AskedFold = { fold: 'least-squares' }) =>
  checkGiven({ items: { ...ITEMS, ...items }, users }, asked, ALL_KNOWN);
const withVector = (vector: readonly number[]) => ({
  vectors: [ITEMS.vectors[0]!, vector, [1, 1, 0], [0, 0, 0]],
});

describe('a file of a given model is refused, with the place, for', () => {
  it.each([
    ['a number that is none', withVector([0, Number.NaN, 1]), /not finite at item "b" \(row 2\)/],
    ['an infinite number', withVector([Number.NEGATIVE_INFINITY, 0, 1]), /not finite at item "b"/],
    ['a number beyond 32 bits', withVector([0, 1e308, 1]), /not finite at item "b"/],
    [
      'a vector of another length',
      withVector([0, 1]),
      /has 2 numbers at item "b" .*, and 3 at the first item/,
    ],
    ['an id that comes twice', { ids: ['a', 'b', 'a', 'd'] }, /an id twice at item "a" \(row 3\)/],
    ['more ids than vectors', { ids: ['a', 'b', 'c', 'd', 'e'] }, /5 ids of items and 4 vectors/],
    ['nothing', { ids: [], vectors: [] }, /no items with vectors/],
    ['zeros alone', { vectors: ITEMS.ids.map(() => [0, 0, 0]) }, /zeros alone/],
    [
      'a million dimensions',
      { ids: ['a'], vectors: [new Float32Array(1e6)] },
      /1,000,000 numbers, and there may be 1024/,
    ],
    ['one vector that would rule', withVector([1e30, 0, 0]), /times as long as the median at item "b"/],
  ])('%s', (_what, items, message) => {
    expect(() => check(items)).toThrow(message);
  });

  it('ids of other data, and takes those of which half are known', () => {
    const half = { item: (id: string) => id < 'c', user: () => false };
    const asked = { fold: 'mean' } as const;
    expect(checkGiven({ items: ITEMS, users: NO_ROWS }, asked, half).facts).toMatchObject({
      ...{ Items: 4, UnknownItems: 2, ZeroItems: 1, Dimensions: 3 },
    });
    const few = { ...half, item: (id: string) => id === 'a' };
    expect(() => checkGiven({ items: ITEMS, users: NO_ROWS }, asked, few)).toThrow(
      /ids of other data: 3 of its 4 items are not there, "b" the first/,
    );
    const users = { ids: ['u'], vectors: [[1, 2, 3]] };
    expect(() => checkGiven({ items: ITEMS, users }, asked, half)).toThrow(
      /1 of its 1 users are not there, "u"/,
    );
  });

  it('users of another length', () => {
    expect(() => check({}, { ids: ['u'], vectors: [[1]] })).toThrow(/has 1 numbers at user "u"/);
  });
});

/** The model as a thread asks it; items and users are rows in the order of `rows`. */
function open(model: GivenModel, rows: readonly string[]) {
  const row = (id: string) => rows.indexOf(id);
  const tools = {
    reads: { itemRow: row, userRow: row },
    instantiate: loadKernels,
    allocate: reuseMemory([]),
    room: { bytes: 0, sampleBytes: 0 },
  } as unknown as Parameters<typeof givenPart.serve>[2];
  const placed = givenPart.serve(model, { slots: 1, listLengthMax: 100 }, tools);
  const [sums] = givenPart.open(placed, { instantiate: loadKernels, slot: 0, itemLabelsOf: () => [] }).sums;
  return sums!;
}

const WEIGHTS = (givenPart.features.given as { weights: Float64Array }).weights;

describe('a given model', () => {
  it('is the same after it was kept, and damage is told', () => {
    const { model } = check(
      {},
      {
        ids: ['u', 'ü'],
        vectors: [
          [1, 2, 3],
          [4, 5, 6],
        ],
      },
    );
    const bytes = encodeGiven(model);
    const again = decodeGiven(bytes.slice());
    expect({ ...again, items: [...again.items.factors], users: [...again.users.factors] }).toEqual({
      ...model,
      items: [...model.items.factors],
      users: [...model.users.factors],
    });
    expect([idsOf(again.items), idsOf(again.users)]).toEqual([ITEMS.ids, ['u', 'ü']]);
    for (const at of [3, 20, bytes.length - 1]) {
      const damaged = bytes.slice();
      damaged[at]! ^= 1;
      expect(() => decodeGiven(damaged)).toThrow(/not a usable given model/);
    }
    expect(() => decodeGiven(bytes.slice(0, bytes.length / 2))).toThrow(/not a usable given model/);
  });

  it('folds a user in by regularized least squares in the units of the file', () => {
    const asked = { fold: 'least-squares', regularization: 0.3, unobservedWeight: 0.2 } as const;
    const sums = open(check({}, NO_ROWS, asked).model, ITEMS.ids);
    sums.sumUp([0, 1], WEIGHTS);
    // Hu, Koren and Volinsky 2008, equation 4, in plain numbers.
    const [y, f] = [ITEMS.vectors, 3];
    const matrix = new Float64Array(f * f);
    const right = new Float64Array(f);
    for (let a = 0; a < f; a++) {
      for (let b = 0; b < f; b++) {
        for (const v of y) matrix[a * f + b]! += 0.2 * v[a]! * v[b]!;
        for (const liked of [0, 1]) matrix[a * f + b]! += y[liked]![a]! * y[liked]![b]!;
      }
      matrix[a * f + a]! += 0.3;
      right[a] = y[0]![a]! + y[1]![a]!;
    }
    const user = solveSymmetric(matrix, right);
    const expected = y.map((v) => user.reduce((sum, number, at) => sum + number * v[at]!, 0));
    const scores = new Float64Array(4);
    sums.copy([0, 1, 2, 3], scores);
    for (const [at, score] of scores.entries()) expect(score).toBeCloseTo(expected[at]!, 4);
    expect(sums.get(2)).toBeCloseTo(expected[2]!, 4);
    expect([...sums.topRows(2, { read: [0] }, (row) => row !== 0)]).toEqual([2, 1]);
  });

  it('takes the mean of the latest likes where that is asked, and says nothing of who likes what it does not know', () => {
    const sums = open(check({}, NO_ROWS, { fold: 'mean' }).model, ITEMS.ids);
    sums.sumUp([0], WEIGHTS);
    const first = sums.get(1) / sums.get(0);
    expect(first).toBeCloseTo(0.125 / 1.25, 5);
    sums.sumUp([1, 0], WEIGHTS);
    expect(sums.get(1)).toBeGreaterThan(sums.get(0) * 0.9);
    sums.sumUp([3, 77], WEIGHTS);
    expect([sums.get(0), sums.topRows(3, {}, () => true).length]).toEqual([0, 0]);
    const out = new Float64Array([5, 5]);
    sums.copy([0, 1], out);
    expect([...out]).toEqual([0, 0]);
  });

  it('takes the vectors of users as they are, and those of others by what they like', () => {
    const users = {
      ids: ['x', 'c'],
      vectors: [
        [9, 9, 9],
        [0, 1, 0],
      ],
    };
    const { model } = checkGiven(
      { items: ITEMS, users },
      { fold: 'least-squares' },
      { item: () => true, user: (id) => id === 'c' },
    );
    const sums = open(model, ITEMS.ids);
    sums.sumUp([0], WEIGHTS, 2);
    const scores = new Float64Array(4);
    sums.copy([0, 1, 2, 3], scores);
    expect([...scores]).toEqual([0, 1, 1, 0]);
    sums.sumUp([0], WEIGHTS, -1);
    expect(sums.get(0)).toBeGreaterThan(sums.get(1));
  });
});
