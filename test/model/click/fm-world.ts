import { createRandom } from '../../../src/domain/random.ts';
import type { ClickData } from '../../../src/model/click/examples.ts';

/**
 * Users and items of two kinds, told by their rows: a user likes items of its own kind five times as often. Each item
 * bears its kind as a label, each user's label is its own.
 */
export function clickWorld(seed: number, userCount = 400, itemCount = 60, negativesShare = 0): ClickData {
  const random = createRandom(seed);
  const sides = () => ({ userRows: [] as number[], itemRows: [] as number[] });
  const [positives, negatives, heldOut] = [sides(), sides(), sides()];
  for (let user = 0; user < userCount; user++) {
    let count = 0;
    for (let item = 0; item < itemCount; item++) {
      const chance = user % 2 === item % 2 ? 0.3 : 0.06;
      if (random.float() < chance) {
        const side = count++ === 2 ? heldOut : positives;
        side.userRows.push(user);
        side.itemRows.push(item);
      } else if (random.float() < negativesShare) {
        negatives.userRows.push(user);
        negatives.itemRows.push(item);
      }
    }
  }
  return {
    positives,
    negatives,
    heldOut,
    userCount,
    itemCount,
    userLabelsOf: (row) => [`user ${row}`],
    itemLabelsOf: (row) => [row % 2 === 0 ? 'even' : 'odd', `item ${row}`],
  };
}

export const NOBODY = { userRows: [], itemRows: [] };
