import { describe, expect, it } from 'vitest';
import { buildInteractions, rowIndices } from '../../../src/dataset/interactions.ts';
import { neighborsAt, packDraft } from '../../../src/model/neighbors/neighbor-table.ts';
import { placeSequence } from '../../../src/model/sequence/memory-layout.ts';
import { isFirst, isLater, itemOf, writeTimeline } from '../../../src/model/sequence/timelines.ts';
import { TransitionCounter } from '../../../src/model/sequence/transition-counter.ts';

/** The table of users' likes, given as [item, time] each. */
function tableOf(users: readonly (readonly (readonly [number, number])[])[], itemCount: number) {
  const likes = users.flatMap((mine, user) => mine.map(([item, time]) => ({ user, item, time })));
  const interactions = buildInteractions({
    userCount: users.length,
    itemCount,
    userRows: likes.map(({ user }) => user),
    itemRows: likes.map(({ item }) => item),
  });
  const { byUser } = interactions;
  const task = placeSequence(interactions, (words) => {
    users.forEach((mine, user) => {
      const items = rowIndices(byUser, user);
      const times = [...items].map((item) => mine.find(([liked]) => liked === item)![1]);
      writeTimeline(words, byUser.indptr[user]!, items, times);
    });
  });
  new TransitionCounter(task).run();
  return packDraft(task.draft, 1);
}

/** What each item leads to, as [item, score]. */
function leadsTo(table: ReturnType<typeof tableOf>, item: number): [number, number][] {
  const { rows, scores } = neighborsAt(table, item);
  return Array.from(rows, (row, at) => [row, scores[at]!]);
}

describe('a timeline', () => {
  it('stands in order of time, those of one moment in the order of their rows', () => {
    const words = new Uint32Array(6);
    writeTimeline(words, 1, [3, 5, 8, 9], [40, 10, 40, 20]);
    const mine = words.subarray(1, 5);
    expect([...mine].map(itemOf)).toEqual([5, 9, 3, 8]);
    expect([...mine].map(isFirst)).toEqual([true, false, false, false]);
    expect([...mine].map(isLater)).toEqual([false, true, true, false]);
    expect([words[0], words[5]]).toEqual([0, 0]);
  });
});

describe('what follows what', () => {
  it('counts the later more than the earlier, and the near more than the far', () => {
    const table = tableOf(
      [
        [
          [0, 10],
          [1, 20],
          [2, 30],
        ],
      ],
      3,
    );
    expect(leadsTo(table, 1)).toEqual([
      [2, 1],
      [0, 0.5],
    ]);
    const [next, afterNext] = leadsTo(table, 0);
    expect(next).toEqual([1, 1]);
    expect(afterNext![0]).toBe(2);
    expect(afterNext![1]).toBeCloseTo(Math.SQRT1_2, 6);
  });

  it('goes both ways alike within one moment', () => {
    const table = tableOf(
      [
        [
          [0, 10],
          [1, 10],
          [2, 20],
        ],
      ],
      3,
    );
    expect(leadsTo(table, 1)).toContainEqual([0, 1]);
    expect(leadsTo(table, 0)).toContainEqual([1, 1]);
    expect(leadsTo(table, 2)).toContainEqual([1, 0.5]);
  });

  it('never goes from one user to the next, nor beyond the window', () => {
    const long = Array.from({ length: 30 }, (_, at): [number, number] => [at, at]);
    const table = tableOf([long, [[30, 0]], [[31, 5]]], 32);
    expect(leadsTo(table, 30)).toEqual([]);
    expect(leadsTo(table, 31)).toEqual([]);
    expect(leadsTo(table, 0).map(([row]) => row)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
    expect(Math.min(...leadsTo(table, 29).map(([row]) => row))).toBe(9);
  });

  it('divides by how often both are liked', () => {
    const pair = (first: number, second: number): [number, number][] => [
      [first, 1],
      [second, 2],
    ];
    const table = tableOf([pair(0, 1), pair(0, 1), pair(2, 1), pair(2, 3)], 4);
    // Item 1 has three likes, item 3 one; item 2 leads to each once and has two.
    expect(leadsTo(table, 2).map(([row]) => row)).toEqual([3, 1]);
    expect(leadsTo(table, 2)[1]![1]).toBeCloseTo(6 ** -0.25, 6);
  });
});
