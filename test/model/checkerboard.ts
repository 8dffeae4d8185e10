import { buildInteractions, type Interactions } from '../../src/dataset/interactions.ts';

/**
 * Even users take even items, odd users odd ones, and each user leaves out one item of its own kind: that one
 * is the right answer, and anyone can see it.
 */
export function checkerboard(userCount: number, itemCount: number): Interactions {
  const userRows: number[] = [];
  const itemRows: number[] = [];
  for (let user = 0; user < userCount; user++) {
    for (let item = user % 2; item < itemCount; item += 2) {
      if (item === missingItem(user, itemCount)) continue;
      userRows.push(user);
      itemRows.push(item);
    }
  }
  return buildInteractions({ userCount, itemCount, userRows, itemRows });
}

/** The item of a user's own kind that it has not taken. */
export function missingItem(user: number, itemCount: number): number {
  const kinds = itemCount / 2;
  return ((user >> 1) % kinds) * 2 + (user % 2);
}
