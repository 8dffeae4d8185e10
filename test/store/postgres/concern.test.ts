import { expect, test } from 'vitest';
import type { CheckedCommand } from '../../../src/store/check-command.ts';
import { Concern } from '../../../src/store/postgres/concern.ts';

function likes(...pairs: readonly (readonly [userId: string, itemId: string])[]): CheckedCommand {
  const feedback = pairs.map(([UserId, ItemId]) => ({
    FeedbackType: 'like',
    UserId,
    ItemId,
    Timestamp: '',
    Comment: '',
  }));
  return { kind: 'putFeedback', overwrite: false, feedback };
}

const keysOf = (command: CheckedCommand) => [...new Concern([command]).keys([]).touched];

const namesOf = (concern: Concern | undefined) =>
  Array.from(concern!.keyedPairs(), ([, userId, itemId]) => [userId, itemId]);

test('names the pairs alone that others have touched', () => {
  const own = new Concern([likes(['anna', 'a'], ['anna', 'b'], ['bert', 'a'])]);
  const touched = own.pairsTouchedBy(keysOf(likes(['anna', 'b'], ['bert', 'c'])));
  expect(namesOf(touched)).toEqual([['anna', 'b']]);
  expect(namesOf(own.pairsTouchedBy([]))).toEqual([]);
});

test('tells nothing where a user or an item was touched, or where feedback goes along with one', () => {
  const users = [[1, { UserId: 'anna' }]];
  const changed = { deletedUserIds: [], deletedItemIds: [], users, items: [], feedback: [], journals: [] };
  const keys = new Concern([]).keys([changed as never]).touched;
  expect(new Concern([likes(['anna', 'a'])]).pairsTouchedBy([...keys])).toBeUndefined();
  expect(new Concern([likes(['bert', 'a'])]).pairsTouchedBy([...keys])).toBeDefined();
  const leaving = new Concern([likes(['anna', 'a']), { kind: 'deleteUser', userId: 'bert' }]);
  expect(leaving.pairsTouchedBy([])).toBeUndefined();
});

test('groups clash over a pair, over users and items that are written, and over those that are new', () => {
  const settled = { users: false, items: false };
  const own = new Concern([likes(['anna', 'a'], ['bert', 'b'])]);
  const clashes = (other: CheckedCommand, grows = settled) => [
    own.clashesWith(new Concern([other]), grows),
    new Concern([other]).clashesWith(own, grows),
  ];
  expect(clashes(likes(['bert', 'b']))).toEqual([true, true]);
  expect(clashes(likes(['anna', 'b']))).toEqual([false, false]);
  expect(clashes(likes(['anna', 'c']), { users: true, items: false })).toEqual([true, true]);
  expect(clashes(likes(['cora', 'b']), { users: true, items: false })).toEqual([false, false]);
  expect(clashes(likes(['cora', 'b']), { users: false, items: true })).toEqual([true, true]);
  expect(clashes({ kind: 'deleteUser', userId: 'anna' })).toEqual([true, true]);
  expect(clashes({ kind: 'deleteItem', itemId: 'c' })).toEqual([false, false]);
});
