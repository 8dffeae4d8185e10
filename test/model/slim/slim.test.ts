import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { finish, fitSlim } from '../../../bench/fit-in-thread.ts';
import { createTableRanker } from '../../../bench/rankers/neighbor-table-ranker.ts';
import { buildInteractions, type Interactions, rowIndices } from '../../../src/dataset/interactions.ts';
import { FurzeError } from '../../../src/domain/furze-error.ts';
import { createRandom } from '../../../src/domain/random.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { createSharedMemory } from '../../../src/memory/shared-memory.ts';
import {
  draftBytes,
  encodeNeighborTable,
  type NeighborTable,
  neighborsAt,
} from '../../../src/model/neighbors/neighbor-table.ts';
import { beginPhase, cancelTask, rowsDone } from '../../../src/model/part/chunks-for-threads.ts';
import { placeSlim, slimMemoryBytes } from '../../../src/model/slim/memory-layout.ts';
import { type SlimSettings, slimSettings } from '../../../src/model/slim/settings.ts';
import { SLIM_PHASES, SlimSolver } from '../../../src/model/slim/slim-solver.ts';
import { slimPart, slimTable } from '../../../src/model/slim/train-and-serve.ts';
import { threadEntry } from '../../../src/platform/program/thread-entry.ts';
import { checkerboard, missingItem } from '../checkerboard.ts';

function randomInteractions(userCount: number, itemCount: number, longest: number): Interactions {
  const random = createRandom(21);
  const userRows: number[] = [];
  const itemRows: number[] = [];
  for (let user = 0; user < userCount; user++) {
    for (let left = 1 + random.below(longest); left > 0; left--) {
      userRows.push(user);
      itemRows.push(Math.floor(itemCount * random.float() ** 2));
    }
  }
  return buildInteractions({ userCount, itemCount, userRows, itemRows });
}

/** G = Xᵀ W X in double precision, by the definition. */
function gramian({ byUser, itemCount }: Interactions, userExponent: number): number[][] {
  const matrix = Array.from({ length: itemCount }, () => new Array<number>(itemCount).fill(0));
  for (let user = 0; user < byUser.rowCount; user++) {
    const items = rowIndices(byUser, user);
    for (const a of items) for (const b of items) matrix[a]![b]! += items.length ** -userExponent;
  }
  return matrix;
}

/** Solves A x = b by elimination with pivots. */
function solve(matrix: number[][], vector: number[]): number[] {
  const rows = matrix.map((row, at) => [...row, vector[at]!]);
  const size = rows.length;
  for (let at = 0; at < size; at++) {
    let pivot = at;
    for (let row = at; row < size; row++)
      if (Math.abs(rows[row]![at]!) > Math.abs(rows[pivot]![at]!)) pivot = row;
    [rows[at], rows[pivot]] = [rows[pivot]!, rows[at]!];
    for (let row = 0; row < size; row++) {
      if (row === at) continue;
      const factor = rows[row]![at]! / rows[at]![at]!;
      for (let column = at; column <= size; column++) rows[row]![column]! -= factor * rows[at]![column]!;
    }
  }
  return rows.map((row, at) => row[size]! / row[at]!);
}

/** The weight that having `item` has for `target`. */
function weightOf(table: NeighborTable, item: number, target: number): number {
  const { rows, scores } = neighborsAt(table, item);
  const at = rows.indexOf(target);
  return at < 0 ? 0 : scores[at]!;
}

describe('a sparse linear model', () => {
  const data = randomInteractions(400, 30, 12);
  const settings: SlimSettings = {
    neighborhood: 29,
    neighbors: 29,
    regularization: 3,
    frequencyRegularization: 0.4,
    userExponent: 0.5,
  };

  it('solves each item as the definition says', () => {
    const table = finish(fitSlim(data, settings, loadKernels));
    const counts = gramian(data, settings.userExponent);
    for (const target of [0, 7, 29]) {
      const others = counts
        .map((_, item) => item)
        .filter((item) => item !== target && counts[item]![target]! > 0);
      const system = others.map((a) =>
        others.map((b) => counts[a]![b]! * (a === b ? 1.4 : 1) + (a === b ? 3 : 0)),
      );
      const expected = solve(
        system,
        others.map((item) => counts[item]![target]!),
      );
      others.forEach((item, at) => {
        expect(weightOf(table, item, target)).toBeCloseTo(expected[at]!, 4);
      });
      expect(Math.max(...expected)).toBeGreaterThan(0.02);
    }
  });

  it('has rows in order, of at most as many weights an item as it was told', () => {
    const table = finish(fitSlim(data, { ...settings, neighbors: 4 }, loadKernels));
    const full = finish(fitSlim(data, settings, loadKernels));
    const columns = new Map<number, number>();
    for (let item = 0; item < 30; item++) {
      const { rows, scores } = neighborsAt(table, item);
      expect([...scores]).toEqual([...scores].sort((a, b) => b - a));
      for (const row of rows) columns.set(row, (columns.get(row) ?? 0) + 1);
    }
    expect([...columns.values()]).toEqual(new Array(30).fill(4));
    // The kept ones are the largest.
    const all = Array.from({ length: 30 }, (_, item) => Math.abs(weightOf(full, item, 5))).sort(
      (a, b) => b - a,
    );
    const kept = Array.from({ length: 30 }, (_, item) => Math.abs(weightOf(table, item, 5)));
    expect(kept.filter((weight) => weight > 0).sort((a, b) => b - a)).toEqual(all.slice(0, 4));
  });

  it('does not depend on how many pairs are counted beforehand', () => {
    const larger = randomInteractions(300, 120, 15);
    const tableWith = (countedItems: number) => {
      const task = placeSlim(larger, { ...settings, neighborhood: 50, neighbors: 20 }, 1, countedItems);
      const solver = new SlimSolver(task, loadKernels, 0);
      for (const phase of SLIM_PHASES) {
        beginPhase(task);
        expect(solver.runPhase(phase)).toBe(true);
      }
      return slimTable(task, 0);
    };
    const expected = tableWith(120);
    expect(expected.scores.some((score) => score < 0)).toBe(true);
    for (const countedItems of [0, 1, 25, 80]) {
      const table = tableWith(countedItems);
      for (let item = 0; item < 120; item++) {
        for (let target = 0; target < 120; target++) {
          expect(weightOf(table, item, target)).toBeCloseTo(weightOf(expected, item, target), 3);
        }
      }
    }
  });

  it('finds the item that is missing from a pattern', () => {
    const board = checkerboard(40, 10);
    const ranker = createTableRanker(finish(fitSlim(board, {}, loadKernels)), board.byUser);
    for (let user = 0; user < 40; user++) {
      expect(ranker.topItems(user, 1, rowIndices(board.byUser, user))[0]).toBe(missingItem(user, 10));
    }
  });

  it('is the same to the bit with 1, 2 and 4 threads', async () => {
    const larger = randomInteractions(300, 200, 15);
    const one = encodeNeighborTable(await fitInThreads(larger, settings, 1));
    expect(encodeNeighborTable(await fitInThreads(larger, settings, 2))).toEqual(one);
    expect(encodeNeighborTable(await fitInThreads(larger, settings, 4))).toEqual(one);
  });

  it('leaves items without users, and items alone with theirs, without weights', () => {
    const lonely = buildInteractions({
      userCount: 3,
      itemCount: 4,
      userRows: [0, 0, 1],
      itemRows: [0, 1, 2],
    });
    const table = finish(fitSlim(lonely, settings, loadKernels));
    expect([0, 1, 2, 3].map((item) => [...neighborsAt(table, item).rows])).toEqual([[1], [0], [], []]);
  });

  it('has weights for the most popular items alone where all would take too long, and its progress counts no others', () => {
    const data = randomInteractions(80, 50, 12);
    const some = placeSlim(data, settings, 1, undefined, createSharedMemory, 20);
    const phases = Array.from(slimPart.course({ ...some, served: undefined as never }), (step) => {
      const { phase, rows } = step as Extract<typeof step, { kind: 'phase' }>;
      beginPhase(some);
      new SlimSolver(some, loadKernels, 0).runPhase(phase);
      return [rows, rowsDone(some)];
    });
    expect(phases[1]).toEqual([20, 20]);
    const likes = (item: number) => rowIndices(data.byItem, item).length;
    const popular = Array.from({ length: 50 }, (_, item) => item).sort(
      (a, b) => likes(b) - likes(a) || a - b,
    );
    const [table, whole] = [slimTable(some, 0), finish(fitSlim(data, settings, loadKernels))];
    const solved = new Set(popular.slice(0, 20));
    for (const item of popular) {
      const expected = [...neighborsAt(whole, item).rows].filter((target) => solved.has(target));
      expect([...neighborsAt(table, item).rows]).toEqual(expected);
    }
  });

  it('stops when cancelled', () => {
    const task = placeSlim(data, settings);
    cancelTask(task);
    expect(new SlimSolver(task, loadKernels, 0).runPhase('solve')).toBe(false);
    expect(slimTable(task, 0).rows).toHaveLength(0);
  });

  it('takes the memory that was worked out before', () => {
    const { userCount, itemCount, count } = data;
    for (const solvedItems of [itemCount, 20]) {
      const { memory, similarity, draft } = placeSlim(data, settings, 2, undefined, undefined, solvedItems);
      const drafted = draft.rows.byteLength + draft.scores.byteLength + draft.counts.byteLength;
      // Weights of those alone that any are learned for.
      expect(drafted).toBe(draftBytes(solvedItems, settings.neighbors));
      const taken = memory.buffer.byteLength + similarity.memory.buffer.byteLength + drafted;
      const worked = slimMemoryBytes({ userCount, itemCount, count, settings, slots: 2, solvedItems });
      // Memories are whole pages.
      expect(taken - worked).toBeGreaterThanOrEqual(0);
      expect(taken - worked).toBeLessThan(2 * 65_536);
    }
  });

  it('refuses settings out of range', () => {
    for (const wrong of [
      { neighborhood: 0 },
      { neighborhood: 1.5 },
      { neighbors: 0 },
      { regularization: 0 },
      { frequencyRegularization: -1 },
      { userExponent: Number.NaN },
    ]) {
      expect(() => slimSettings(wrong), JSON.stringify(wrong)).toThrow(FurzeError);
    }
  });
});

async function fitInThreads(
  data: Interactions,
  settings: SlimSettings,
  threads: number,
): Promise<NeighborTable> {
  const task = placeSlim(data, settings, threads);
  const { url, execArgv } = threadEntry(import.meta.url, './slim-thread');
  const workers = Array.from(
    { length: threads },
    (_, slot) => new Worker(url, { execArgv, workerData: { task, slot } }),
  );
  const all = () => Promise.all(workers.map((worker) => once(worker, 'message')));
  try {
    await all();
    for (const phase of SLIM_PHASES) {
      beginPhase(task);
      const done = all();
      for (const worker of workers) worker.postMessage(phase);
      await done;
    }
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
  return slimTable(task, 7);
}
