import { describe, expect, it } from 'vitest';
import { buildInteractions } from '../../../src/dataset/interactions.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { usersByItems } from '../../../src/model/neighbors/incidence.ts';
import { placeSimilarity } from '../../../src/model/neighbors/memory-layout.ts';
import { type PlacedUsers, SimilarUsers } from '../../../src/model/neighbors/similar-users.ts';
import { findNeighbors } from '../../../src/threads/searches.ts';

/** User 0 likes items 0 to 5; user 1 likes 0, 1 and 2, user 2 likes 3, 4 and 5, user 3 something else. */
const LIKES = [[0, 1, 2, 3, 4, 5], [0, 1, 2], [3, 4, 5], [6]];

function placedUsers(): PlacedUsers {
  const userRows = LIKES.flatMap((items, user) => items.map(() => user));
  const likes = buildInteractions({ userCount: 4, itemCount: 7, userRows, itemRows: LIKES.flat() });
  return {
    byItems: placeSimilarity(usersByItems(likes), {}, 1),
    byLabels: undefined,
    rows: { users: Uint32Array.of(0, 1, 2, 3), items: Uint32Array.from({ length: 7 }, (_, row) => row) },
  };
}

describe('users like a user', () => {
  const users = placedUsers();
  const similar = new SimilarUsers(users, { instantiate: loadKernels, slot: 0 });
  const asked = { userRow: 0, likedRows: Uint32Array.of(5, 4, 3, 2, 1, 0) };

  it('are compared by all likes where these are few', () => {
    expect(similar.find(asked, 5)!.rows).toEqual([1, 2]);
  });

  it('are compared by the latest likes where more would take too long', () => {
    // Each item is liked by two users.
    expect(similar.find(asked, 5, 6)!.rows).toEqual([2]);
    expect(similar.find(asked, 5, 0)!.rows).toEqual([2]);
  });

  it('are not looked for when nobody waits any more', () => {
    const cancelled = new Int32Array(new SharedArrayBuffer(4));
    const job = { kind: 'neighbors', among: 'users', users, asked, k: 5, slot: 0, cancelled } as const;
    expect(findNeighbors(job)!.rows).toEqual([1, 2]);
    cancelled[0] = 1;
    expect(() => findNeighbors(job)).toThrow('nobody waits');
  });
});
