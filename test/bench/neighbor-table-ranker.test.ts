import { describe, expect, it } from 'vitest';
import { createTableRanker } from '../../bench/rankers/neighbor-table-ranker.ts';
import { buildInteractions } from '../../src/dataset/interactions.ts';
import { createDraft, packDraft } from '../../src/model/neighbors/neighbor-table.ts';

/** Item 0 speaks for 2 and 3, item 1 for 3 and against 2; nothing speaks of 4. */
function table() {
  const draft = createDraft(5, 2);
  draft.rows.set([2, 3, 3, 2]);
  draft.scores.set([0.5, 0.25, 0.5, -0.75]);
  draft.counts.set([2, 2]);
  return packDraft(draft, 1);
}

describe('a ranker by a table', () => {
  const likes = buildInteractions({ userCount: 3, itemCount: 5, userRows: [0, 1, 1], itemRows: [0, 0, 1] });
  const ranker = createTableRanker(table(), likes.byUser);

  it('sums what the items of a user say, also what speaks against', () => {
    expect([...ranker.topItems(0, 5, Uint32Array.of(0))]).toEqual([2, 3]);
    expect([...ranker.topItems(1, 5, Uint32Array.of(0, 1))]).toEqual([3, 2]);
    const scores = new Float32Array(3);
    ranker.scoreItems(1, Uint32Array.of(2, 3, 4), scores);
    expect([...scores]).toEqual([-0.25, 0.75, 0]);
  });

  it('leaves out what is excluded, and what nothing speaks of', () => {
    expect([...ranker.topItems(0, 5, Uint32Array.of(2))]).toEqual([3]);
    expect([...ranker.topItems(0, 1, Uint32Array.of())]).toEqual([2]);
    expect(ranker.topItems(2, 5, Uint32Array.of())).toHaveLength(0);
    expect(ranker.topItems(9, 5, Uint32Array.of())).toHaveLength(0);
  });
});
