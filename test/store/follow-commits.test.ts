import { expect, test } from 'vitest';
import { type Commit, decodeParts, encodeParts } from '../../src/store/commit-effects.ts';
import { CannotFollowError } from '../../src/store/postgres/cannot-follow-error.ts';
import { nextCommits } from '../../src/store/postgres/follow-commits.ts';

/** A commit that removes so many users; its mark is ten times its position. */
function commit(position: number, records: number, markBefore = (position - 1) * 10): Commit {
  const deletedUserIds = Array.from({ length: records }, (_, at) => `u${at}`);
  const part = { deletedUserIds, deletedItemIds: [], users: [], items: [], feedback: [], journals: [] };
  return { position, mark: position * 10, markBefore, parts: decodeParts(encodeParts([part])) };
}

const positionsOf = (commits: readonly Commit[]) => commits.map(({ position }) => position);

test('small commits go together, and those that were carried out are not among them', () => {
  const commits = [1, 2, 3, 4].map((position) => commit(position, 1));
  expect(positionsOf(nextCommits({ position: 2, mark: 20 }, commits))).toEqual([3, 4]);
  expect(nextCommits({ position: 4, mark: 40 }, commits)).toEqual([]);
});

test('large commits end a transaction, and one of any size is one', () => {
  const commits = [commit(1, 6000), commit(2, 6000), commit(3, 1), commit(4, 30_000)];
  expect(positionsOf(nextCommits({ position: 0, mark: 0 }, commits))).toEqual([1, 2]);
  expect(positionsOf(nextCommits({ position: 3, mark: 30 }, commits))).toEqual([4]);
});

test.each([
  ['a commit is missing', [commit(1, 1), commit(3, 1)]],
  ['a commit is of another history', [commit(1, 1), commit(2, 1, 11)]],
  ['the first one does not follow', [commit(1, 1, 5)]],
])('nothing is carried out where %s', (_, commits) => {
  expect(() => nextCommits({ position: 0, mark: 0 }, commits)).toThrow(CannotFollowError);
});
