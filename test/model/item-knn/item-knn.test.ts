import { describe, expect, it } from 'vitest';
import { fitItemKnn } from '../../../bench/fit-in-thread.ts';
import { buildInteractions, rowIndices } from '../../../src/dataset/interactions.ts';
import { createRandom } from '../../../src/domain/random.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { neighborsAt } from '../../../src/model/neighbors/neighbor-table.ts';

describe('items by common users', () => {
  it('score the common users by how few items these have, over the fourth roots of the items sums', () => {
    const random = createRandom(3);
    const userRows = Array.from({ length: 300 }, () => random.below(40));
    const itemRows = userRows.map(() => Math.floor(25 * random.float() ** 2));
    const interactions = buildInteractions({ userCount: 40, itemCount: 25, userRows, itemRows });
    const { byUser, byItem } = interactions;
    const weight = (user: number) => rowIndices(byUser, user).length ** -0.5;
    const sum = (users: readonly number[]) => users.reduce((total, user) => total + weight(user), 0);
    const table = fitItemKnn(interactions, loadKernels);
    for (let item = 0; item < 25; item++) {
      const mine = [...rowIndices(byItem, item)];
      const expected = Array.from({ length: 25 }, (_, other) => {
        const theirs = [...rowIndices(byItem, other)];
        const common = sum(theirs.filter((user) => mine.includes(user)));
        return common === 0 ? 0 : common / (sum(mine) * sum(theirs)) ** 0.25;
      });
      const { rows, scores } = neighborsAt(table, item);
      expect(rows).toHaveLength(expected.filter((score, other) => score > 0 && other !== item).length);
      rows.forEach((row, at) => {
        expect(scores[at]).toBeCloseTo(expected[row]!, 5);
      });
    }
  });
});
