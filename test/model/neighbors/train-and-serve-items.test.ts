import { describe, expect, it } from 'vitest';
import { buildInteractions } from '../../../src/dataset/interactions.ts';
import type { TrainingData, TrainingReads } from '../../../src/dataset/training-data.ts';
import type { NeighborType } from '../../../src/domain/neighbor-type.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { createSharedMemory } from '../../../src/memory/shared-memory.ts';
import { neighborsAt } from '../../../src/model/neighbors/neighbor-table.ts';
import { itemNeighborsPart } from '../../../src/model/neighbors/train-and-serve-items.ts';
import { beginPhase, rowsDone } from '../../../src/model/part/chunks-for-threads.ts';
import { similarRows } from '../../../src/recommend/neighbors/similar-rows.ts';

const ROWS = 200;
/** Every other row of the store is of an item that somebody likes: the higher the row, the more do. */
const LIKED = Array.from({ length: ROWS / 2 }, (_, at) => 2 * at);
const likesOf = (row: number) => (row % 2 === 0 ? 1 + Math.floor(row / 20) : 0);

/** All items share one label, a few another beside it. */
const labelsOf = (row: number) => (row % 50 === 7 ? ['film', 'war'] : ['film']);

const ROOM = { bytes: 2 ** 30, sampleBytes: 2 ** 30 };

/** @param hasLabels which rows have labels */
function taskOf(
  policy: NeighborType,
  bounds: { readonly additionsMax?: number } = {},
  hasLabels: (row: number) => boolean = () => true,
) {
  const pairs = LIKED.flatMap((row, item) => Array.from({ length: likesOf(row) }, (_, user) => [user, item]));
  const interactions = buildInteractions({
    userCount: 20,
    itemCount: LIKED.length,
    userRows: pairs.map(([user]) => user!),
    itemRows: pairs.map(([, item]) => item!),
  });
  const rows = { items: Uint32Array.from(LIKED), users: Uint32Array.from({ length: 20 }, (_, row) => row) };
  const data = { interactions, rows, itemRowCount: ROWS, userRowCount: 20 } as unknown as TrainingData;
  const labels = (row: number) => (hasLabels(row) ? labelsOf(row) : []);
  const reads = { itemLabels: () => labels, itemCount: ROWS, userCount: 20 } as unknown as TrainingReads;
  const options = { policy, enableIndex: false, indexRecall: 1, seed: 1, ...bounds };
  const tools = { instantiate: loadKernels, allocate: createSharedMemory, reads, room: ROOM } as never;
  const task = itemNeighborsPart.prepare(data, options, 1, tools, undefined as never);
  return { task, run: (phase: number) => itemNeighborsPart.run(task, phase, 0, tools) };
}

function tableOf(policy: NeighborType, bounds: { readonly additionsMax?: number } = {}) {
  const { task, run } = taskOf(policy, bounds);
  task.tasks.forEach((_, phase) => {
    run(phase);
  });
  return { ...itemNeighborsPart.model(task, undefined as never, 1), leftOut: task.leftOut };
}

/** What `rows` score, in groups of equal scores. */
function groupsOf(rows: Uint32Array, scores: Float32Array): number[][] {
  const groups: number[][] = [];
  rows.forEach((row, at) => {
    if (at > 0 && scores[at] === scores[at - 1]) groups.at(-1)!.push(row);
    else groups.push([row]);
  });
  return groups;
}

describe('neighbors of items', () => {
  it('are found for the most popular ones where all would take too long, and it is said', () => {
    const all = tableOf('related');
    const some = tableOf('related', { additionsMax: 20_000 });
    expect(all.leftOut).toBeUndefined();
    const [, least] = /compared the (\d+) most popular of \d+ items/.exec(some.leftOut!)!;
    const popularFirst = [...LIKED].sort((a, b) => likesOf(b) - likesOf(a) || a - b);
    popularFirst.forEach((row, place) => {
      const expected = place < Number(least) ? neighborsAt(all, row).rows : new Uint32Array(0);
      expect(neighborsAt(some, row).rows).toEqual(expected);
    });
    expect(Number(least)).toBeGreaterThan(0);
    expect(Number(least)).toBeLessThan(LIKED.length);
  });

  it('tell of both comparisons as one, each by the rows that it compares', () => {
    const { task, run } = taskOf('auto', {}, (row) => row < 60);
    const told = Array.from(itemNeighborsPart.course(task), (step) => {
      const { phase, rows, before, total } = step as Extract<typeof step, { kind: 'phase' }>;
      beginPhase(task);
      run(phase);
      return { rows, before, total, done: rowsDone(task) };
    });
    expect(told).toEqual([
      { rows: 60, done: 60, before: 0, total: 130 },
      { rows: 70, done: 70, before: 60, total: 130 },
    ]);
  });

  it.each(['similar', 'related'] as const)(
    '%s: of equal scores those that more like come first',
    (policy) => {
      const table = tableOf(policy);
      for (const row of [0, 6, 198]) {
        const { rows, scores } = neighborsAt(table, row);
        expect(rows).toHaveLength(99 + (policy === 'similar' ? 1 : 0));
        for (const group of groupsOf(rows, scores)) {
          const expected = [...group].sort((a, b) => likesOf(b) - likesOf(a) || a - b);
          expect(group).toEqual(expected);
        }
      }
      // A hundred find room of two hundred that are alike: the best known ones.
      if (policy === 'similar') expect(neighborsAt(table, 0).rows[0]).toBe(180);
    },
  );

  it('come in the same order when they are worked out on demand', () => {
    const table = tableOf('similar');
    const all = Array.from({ length: ROWS }, (_, row) => row);
    const labels = {
      rowCount: ROWS,
      elementsOf: labelsOf,
      rowsOf: (label: string) => new Set(all.filter((row) => labelsOf(row).includes(label))),
      order: (row: number, other: number) => likesOf(other) - likesOf(row) || row - other,
    };
    for (const row of [0, 6, 7, 198]) {
      const { rows, scores } = neighborsAt(table, row);
      const found = similarRows(row, 100, labels, () => true);
      expect(found.rows).toEqual([...rows]);
      found.scores.forEach((score, at) => {
        expect(score).toBeCloseTo(scores[at]!, 7);
      });
    }
  });
});
