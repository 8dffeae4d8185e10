import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprint } from '../../src/dataset/fingerprint.ts';
import { buildInteractions, rowIndices } from '../../src/dataset/interactions.ts';

describe('interaction matrices', () => {
  it('merge repeated pairs and keep the largest weight', () => {
    const matrix = buildInteractions({
      userCount: 2,
      itemCount: 3,
      userRows: [1, 0, 1, 1],
      itemRows: [2, 1, 0, 2],
      weights: [1, 2, 3, 4],
    });
    expect(matrix.count).toBe(3);
    expect([...matrix.byUser.indptr]).toEqual([0, 1, 3]);
    expect([...matrix.byUser.indices]).toEqual([1, 0, 2]);
    expect([...matrix.byUser.weights!]).toEqual([2, 3, 4]);
    expect([...matrix.byItem.indptr]).toEqual([0, 1, 2, 3]);
    expect([...matrix.byItem.indices]).toEqual([1, 0, 1]);
    expect([...matrix.byItem.weights!]).toEqual([3, 2, 4]);
  });

  it('hold the same pairs as a plain set, in both orientations', () => {
    const pairs = fc.array(fc.tuple(fc.nat(9), fc.nat(6)), { maxLength: 60 });
    fc.assert(
      fc.property(pairs, (list) => {
        const matrix = buildInteractions({
          userCount: 10,
          itemCount: 7,
          userRows: list.map(([user]) => user),
          itemRows: list.map(([, item]) => item),
        });
        const expected = new Set(list.map(([user, item]) => `${user} ${item}`));
        const byUser = [];
        const byItem = [];
        for (let user = 0; user < 10; user++) {
          for (const item of rowIndices(matrix.byUser, user)) byUser.push(`${user} ${item}`);
        }
        for (let item = 0; item < 7; item++) {
          for (const user of rowIndices(matrix.byItem, item)) byItem.push(`${user} ${item}`);
        }
        expect(byUser.sort()).toEqual([...expected].sort());
        expect(byItem.sort()).toEqual([...expected].sort());
      }),
    );
  });

  it('may be empty', () => {
    const matrix = buildInteractions({ userCount: 0, itemCount: 0, userRows: [], itemRows: [] });
    expect(matrix.count).toBe(0);
  });

  it('refuse rows out of range, weights that are not positive, and columns of different lengths', () => {
    const base = { userCount: 2, itemCount: 2, userRows: [0], itemRows: [1] };
    expect(() => buildInteractions({ ...base, userRows: [2] })).toThrow('outside');
    expect(() => buildInteractions({ ...base, weights: [0] })).toThrow('weight');
    expect(() => buildInteractions({ ...base, itemRows: [] })).toThrow('length');
  });

  it('have a fingerprint that any change alters and the order of records does not', () => {
    const base = { userCount: 3, itemCount: 3, userRows: [0, 1, 2], itemRows: [1, 2, 0] };
    const print = fingerprint(buildInteractions(base));
    const reordered = { ...base, userRows: [2, 1, 0], itemRows: [0, 2, 1] };
    expect(fingerprint(buildInteractions(reordered))).toBe(print);
    expect(fingerprint(buildInteractions({ ...base, itemCount: 4 }))).not.toBe(print);
    expect(fingerprint(buildInteractions({ ...base, itemRows: [1, 2, 1] }))).not.toBe(print);
  });
});
