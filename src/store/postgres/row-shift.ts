import type { Effects } from '../commit-effects.ts';

/** Rows from a base on were taken by others in the meantime: those of a commit are so many further on. */
export interface RowShift {
  readonly userBase: number;
  readonly userShift: number;
  readonly itemBase: number;
  readonly itemShift: number;
}

/** What a commit did, with the rows that it was given. */
export function shiftRows(parts: readonly Effects[], shift: RowShift): readonly Effects[] {
  const { userBase, userShift, itemBase, itemShift } = shift;
  if (userShift === 0 && itemShift === 0) return parts;
  const userRow = (row: number) => (row >= userBase ? row + userShift : row);
  const itemRow = (row: number) => (row >= itemBase ? row + itemShift : row);
  return parts.map((part) => ({
    ...part,
    users: part.users.map(([row, user]) => [userRow(row), user] as const),
    items: part.items.map(([row, item]) => [itemRow(row), item] as const),
    feedback: part.feedback.map((each) => ({
      ...each,
      userRow: userRow(each.userRow),
      itemRow: itemRow(each.itemRow),
    })),
  }));
}
