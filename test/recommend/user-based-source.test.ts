import { describe, expect, it } from 'vitest';
import type { Ranked } from '../../src/memory/ranked-rows.ts';
import { atOnce } from '../../src/platform/concurrency/event-loop-turns.ts';
import type { Catalogue } from '../../src/recommend/catalogue/catalogue.ts';
import type { LikeTest } from '../../src/recommend/history/counts-as-positive.ts';
import { itemsOfUsers, SUMS_MAX, USERS_ASKED } from '../../src/recommend/neighbors/items-of-users.ts';
import { KeptLikes, likesInStore } from '../../src/recommend/neighbors/kept-likes.ts';
import { type UserNeighbors, userRelation } from '../../src/recommend/neighbors/user-neighbors.ts';
import { UserBasedSource } from '../../src/recommend/sources/user-based-source.ts';
import type { LocalReads } from '../../src/store/data-store.ts';
import { historyOf, isPositive, LIKE, READ, readsOf } from './hand-made.ts';

const SUPER_LIKE = 2;
const all = () => true;

const ITEMS = 200;

function found(
  users: Ranked,
  reads: LocalReads,
  isLike: LikeTest,
  k: number,
  accept: (row: number) => boolean,
): Ranked {
  return atOnce(itemsOfUsers(users, likesInStore(reads, isLike), ITEMS, k, accept));
}

describe('the items of similar users', () => {
  it('score the sum of the similarities of those who like them', () => {
    const reads = readsOf([
      [{ item: 1 }, { item: 2 }],
      [{ item: 2 }, { item: 3 }],
      [{ item: 3, type: READ }],
    ]);
    const users = { rows: [0, 1, 2], scores: [0.5, 0.25, 0.125] };
    expect(found(users, reads, isPositive, 10, all)).toEqual({
      rows: [2, 1, 3],
      scores: [0.75, 0.5, 0.25],
    });
    expect(found(users, reads, isPositive, 2, all).rows).toEqual([2, 1]);
    expect(found(users, reads, isPositive, 2, (row) => row !== 2).rows).toEqual([1, 3]);
  });

  it('are read one user at a time, with a pause after each', () => {
    const reads = readsOf([[{ item: 1 }], [{ item: 2 }], [{ item: 3 }]]);
    const work = itemsOfUsers(
      { rows: [0, 1, 2], scores: [3, 2, 1] },
      likesInStore(reads, isPositive),
      ITEMS,
      10,
      all,
    );
    expect([...work]).toHaveLength(3);
  });

  it('are the same whatever was asked before, or is asked meanwhile', () => {
    const likes = (rows: readonly (readonly { item: number }[])[]) => likesInStore(readsOf(rows), isPositive);
    const first = itemsOfUsers({ rows: [0], scores: [1] }, likes([[{ item: 1 }]]), ITEMS, 10, all);
    first.next();
    const second = itemsOfUsers({ rows: [0], scores: [2] }, likes([[{ item: 2 }]]), ITEMS, 10, all);
    expect(atOnce(second)).toEqual({ rows: [2], scores: [2] });
    expect(atOnce(first)).toEqual({ rows: [1], scores: [1] });
    const third = itemsOfUsers({ rows: [0], scores: [3] }, likes([[{ item: 3 }]]), ITEMS, 10, all);
    third.next();
    third.return({ rows: [], scores: [] });
    const last = itemsOfUsers({ rows: [0], scores: [4] }, likes([[{ item: 3 }]]), ITEMS, 10, all);
    expect(atOnce(last)).toEqual({ rows: [3], scores: [4] });
  });

  it('are kept for the next list, as many as there is room for', () => {
    const asked: number[] = [];
    const likesOf = new KeptLikes(3).through((userRow) => {
      asked.push(userRow);
      return Uint32Array.of(userRow, userRow + 1);
    });
    expect([...likesOf(5), ...likesOf(5)]).toEqual([5, 6, 5, 6]);
    expect(asked).toEqual([5]);
    likesOf(7);
    expect([...likesOf(5)]).toEqual([5, 6]);
    expect(asked).toEqual([5, 7, 5]);
  });

  it('are kept of so many users, whoever likes nothing among them, and of none who likes more than there is room for', () => {
    const asked: number[] = [];
    const kept = new KeptLikes(8, 2);
    const likesOf = kept.through((userRow) => {
      asked.push(userRow);
      return new Uint32Array(userRow === 9 ? 8 : 0);
    });
    for (const userRow of [1, 2, 1, 3, 1, 9, 9, 3]) likesOf(userRow);
    expect(asked).toEqual([1, 2, 3, 1, 9, 9]);
    kept.clear();
    likesOf(3);
    expect(asked).toHaveLength(7);
  });

  it('leave out items that came since, and users who are not alike', () => {
    const reads = readsOf([[{ item: 1 }, { item: ITEMS }], [{ item: 2 }]]);
    expect(found({ rows: [0, 1], scores: [1, 0] }, reads, isPositive, 10, all).rows).toEqual([1]);
  });

  it('are summed for a few requests at a time, and refused to a crowd', async () => {
    let asked = 0;
    const of = () => {
      asked++;
      return new Promise<Ranked>(() => {});
    };
    const userNeighbors = { of } as unknown as UserNeighbors;
    const catalogue = { isListable: all } as unknown as Catalogue;
    const source = new UserBasedSource({ reads: readsOf([]), catalogue, userNeighbors, isPositive });
    const history = historyOf([]);
    const codes: string[] = [];
    for (let request = 0; request < 200; request++)
      source.rank({ history, k: 1, accept: all, categories: [] }).catch(({ code }) => codes.push(code));
    await new Promise(setImmediate);
    expect(asked).toBe(SUMS_MAX);
    expect(new Set(codes)).toEqual(new Set(['OVERLOADED']));
    expect(codes.length).toBeGreaterThan(100);
  });

  it('pause while many of them are compared', () => {
    const likes = Array.from({ length: 10_000 }, (_, item) => ({ item }));
    const likesOf = likesInStore(readsOf([likes]), isPositive);
    const work = itemsOfUsers({ rows: [0], scores: [1] }, likesOf, likes.length, 3, all);
    expect([...work].length).toBeGreaterThan(2);
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
    expect(found(users, readsOf([twice]), isLike, 10, all)).toEqual({ rows: [1, 2], scores: [0.5, 0.5] });
  });

  it('are those of a bounded number of users', () => {
    const count = USERS_ASKED + 1;
    const reads = readsOf(Array.from({ length: count }, (_, user) => [{ item: user }]));
    const rows = Array.from({ length: count }, (_, user) => user);
    const users = { rows, scores: rows.map(() => 1) };
    expect(found(users, reads, isPositive, 1000, all).rows).toEqual(rows.slice(0, USERS_ASKED));
  });
});

it('users are compared by labels or by liked items, as configured', () => {
  expect(userRelation('similar', false)).toBe('users-by-labels');
  expect(userRelation('related', true)).toBe('users-by-items');
  expect(userRelation('auto', true)).toBe('users-by-labels');
  expect(userRelation('auto', false)).toBe('users-by-items');
});
