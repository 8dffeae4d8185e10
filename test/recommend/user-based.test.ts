import { describe, expect, it } from 'vitest';
import { itemsOfUsers, USERS_ASKED } from '../../src/recommend/neighbors/items-of-users.ts';
import { userRelation } from '../../src/recommend/neighbors/user-neighbors.ts';
import { isPositive, LIKE, READ, readsOf } from './hand-made.ts';

const SUPER_LIKE = 2;
const all = () => true;

describe('the items of similar users', () => {
  it('score the sum of the similarities of those who like them', () => {
    const reads = readsOf([
      [{ item: 1 }, { item: 2 }],
      [{ item: 2 }, { item: 3 }],
      [{ item: 3, type: READ }],
    ]);
    const users = { rows: [0, 1, 2], scores: [0.5, 0.25, 0.125] };
    expect(itemsOfUsers(users, reads, isPositive, 10, all)).toEqual({
      rows: [2, 1, 3],
      scores: [0.75, 0.5, 0.25],
    });
    expect(itemsOfUsers(users, reads, isPositive, 2, all).rows).toEqual([2, 1]);
    expect(itemsOfUsers(users, reads, isPositive, 2, (row) => row !== 2).rows).toEqual([1, 3]);
  });

  it('count once however many types of positive feedback a user gave', () => {
    const twice = [
      { item: 1, type: LIKE },
      { item: 1, type: READ },
      { item: 1, type: SUPER_LIKE },
      { item: 2, type: LIKE },
    ];
    const isLike = (type: number) => type === LIKE || type === SUPER_LIKE;
    const users = { rows: [0], scores: [0.5] };
    const found = itemsOfUsers(users, readsOf([twice]), isLike, 10, all);
    expect(found).toEqual({ rows: [1, 2], scores: [0.5, 0.5] });
  });

  it('are those of a bounded number of users', () => {
    const count = USERS_ASKED + 1;
    const reads = readsOf(Array.from({ length: count }, (_, user) => [{ item: user }]));
    const rows = Array.from({ length: count }, (_, user) => user);
    const found = itemsOfUsers({ rows, scores: rows.map(() => 1) }, reads, isPositive, 1000, all);
    expect(found.rows).toEqual(rows.slice(0, USERS_ASKED));
  });
});

it('users are compared by labels or by liked items, as configured', () => {
  expect(userRelation('similar', false)).toBe('users-by-labels');
  expect(userRelation('related', true)).toBe('users-by-items');
  expect(userRelation('auto', true)).toBe('users-by-labels');
  expect(userRelation('auto', false)).toBe('users-by-items');
});
