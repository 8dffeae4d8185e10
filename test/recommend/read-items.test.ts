import { expect, test } from 'vitest';
import { isUnread, ReadItems, shownOfList } from '../../src/recommend/history/read-items.ts';

const history = { hasRead: (itemRow: number) => itemRow === 2 };
const rows = [1, 2, 3];

test('what was read is left out, but for lists that hold it on purpose', () => {
  expect(rows.filter((row) => isUnread(history, row))).toEqual([1, 3]);
  expect(rows.filter(shownOfList(history, false))).toEqual([1, 3]);
  expect(rows.filter(shownOfList(history, true))).toEqual(rows);
});

test('read items held are those of the last user alone', () => {
  const read = new ReadItems();
  read.hold([1, 5000]);
  expect([1, 2, 5000].filter((row) => read.isUnread(row))).toEqual([2]);
  read.hold([2]);
  expect([1, 2, 5000].filter((row) => read.isUnread(row))).toEqual([1, 5000]);
});
