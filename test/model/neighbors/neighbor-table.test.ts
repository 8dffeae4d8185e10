import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { buildInteractions, type Interactions } from '../../../src/dataset/interactions.ts';
import { FurzeError } from '../../../src/domain/furze-error.ts';
import { createRandom } from '../../../src/domain/random.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import {
  createNeighborTask,
  finishTasks,
  type NeighborTask,
  policyTasks,
  runNeighborTask,
} from '../../../src/model/neighbors/fill-neighbor-table.ts';
import { incidenceOfLabels, itemsByUsers } from '../../../src/model/neighbors/incidence.ts';
import {
  type PlacedSimilarity,
  placeSimilarity,
  rowsWithin,
} from '../../../src/model/neighbors/memory-layout.ts';
import {
  createDraft,
  decodeNeighborTable,
  encodeNeighborTable,
  type NeighborTable,
  neighborsAt,
} from '../../../src/model/neighbors/neighbor-table.ts';
import { SimilaritySearch } from '../../../src/model/neighbors/similarity-search.ts';
import { beginPhase, cancelTask, rowsDone } from '../../../src/model/part/chunks-for-threads.ts';
import { threadEntry } from '../../../src/platform/program/thread-entry.ts';

function randomInteractions(userCount: number, itemCount: number): Interactions {
  const random = createRandom(11);
  const userRows: number[] = [];
  const itemRows: number[] = [];
  for (let user = 0; user < userCount; user++) {
    for (let left = random.below(20); left > 0; left--) {
      userRows.push(user);
      itemRows.push(Math.floor(itemCount * random.float() ** 2));
    }
  }
  return buildInteractions({ userCount, itemCount, userRows, itemRows });
}

const ITEMS = 500;
const interactions = randomInteractions(700, ITEMS);

async function fillInThreads(threads: number): Promise<NeighborTable> {
  const similarity = placeSimilarity(itemsByUsers(interactions), {}, threads);
  const task = createNeighborTask(similarity, createDraft(ITEMS, 20));
  const { url, execArgv } = threadEntry(import.meta.url, './neighbor-thread');
  const workers = Array.from(
    { length: threads },
    (_, slot) => new Worker(url, { execArgv, workerData: { task, slot } }),
  );
  try {
    await Promise.all(workers.map((worker) => once(worker, 'message')));
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
  expect(rowsDone(task)).toBe(ITEMS);
  return finishTasks([task], 42);
}

function run(task: NeighborTask, slot = 0): boolean {
  return runNeighborTask(task, loadKernels(task.similarity.memory), slot);
}

function tableOf(similarity: PlacedSimilarity, k: number): NeighborTable {
  const task = createNeighborTask(similarity, createDraft(similarity.rowCount, k));
  expect(run(task)).toBe(true);
  return finishTasks([task], 42);
}

describe('a table of neighbors', () => {
  it('holds what the search finds, for every row', () => {
    const similarity = placeSimilarity(itemsByUsers(interactions));
    const table = tableOf(similarity, 20);
    const search = new SimilaritySearch(similarity, loadKernels(similarity.memory), 0);
    for (let row = 0; row < ITEMS; row++) {
      const { rows, scores } = neighborsAt(table, row);
      const found = search.neighborsOf(row, 20);
      expect([...rows]).toEqual([...found.rows]);
      expect([...scores]).toEqual([...found.scores]);
    }
  });

  it('has no neighbors for rows outside', () => {
    const table = tableOf(placeSimilarity(itemsByUsers(interactions)), 3);
    for (const row of [-1, ITEMS, 1e9]) expect(neighborsAt(table, row).rows).toHaveLength(0);
  });

  it('is the same to the bit with 1, 2 and 4 threads', async () => {
    const one = encodeNeighborTable(await fillInThreads(1));
    expect(encodeNeighborTable(await fillInThreads(2))).toEqual(one);
    expect(encodeNeighborTable(await fillInThreads(4))).toEqual(one);
  });

  it('stops when cancelled', () => {
    const task = createNeighborTask(placeSimilarity(itemsByUsers(interactions)), createDraft(ITEMS, 5));
    cancelTask(task);
    expect(run(task)).toBe(false);
    expect(rowsDone(task)).toBe(0);
  });

  it('survives its bytes, and refuses damaged ones', () => {
    const table = tableOf(placeSimilarity(itemsByUsers(interactions)), 10);
    const bytes = encodeNeighborTable(table);
    const read = decodeNeighborTable(bytes);
    expect(read).toEqual(table);
    expect(read.rows.buffer).toBeInstanceOf(SharedArrayBuffer);
    for (const at of [0, 4, 12, 20, bytes.length - 1]) {
      const damaged = bytes.slice();
      damaged[at] = damaged[at]! ^ 0x41;
      expect(() => decodeNeighborTable(damaged), `byte ${at}`).toThrow(FurzeError);
    }
    for (const length of [0, 10, 40, bytes.length - 4]) {
      expect(() => decodeNeighborTable(bytes.subarray(0, length)), `${length} bytes`).toThrow(FurzeError);
    }
  });

  it('refuses a draft of another shape', () => {
    const similarity = placeSimilarity(itemsByUsers(interactions), { listLengthMax: 10 });
    expect(() => createNeighborTask(similarity, createDraft(ITEMS - 1, 5))).toThrow(RangeError);
    expect(() => createNeighborTask(similarity, createDraft(ITEMS, 11))).toThrow(RangeError);
  });
});

describe('a policy', () => {
  // Films 0 to 2 are liked by the same users; 1, 3 and 4 have a label.
  const labelsOf = (row: number) => (row === 1 || row >= 3 ? ['war'] : []);
  const likes = buildInteractions({
    userCount: 2,
    itemCount: 5,
    userRows: [0, 0, 0, 1, 1, 1],
    itemRows: [0, 1, 2, 0, 1, 2],
  });
  const similarities = {
    labels: { similarity: placeSimilarity(incidenceOfLabels(labelsOf, 5)) },
    related: { similarity: placeSimilarity(itemsByUsers(likes)) },
  };
  const neighbors = (policy: 'similar' | 'related' | 'auto') => {
    const tasks = policyTasks(policy, similarities, (row) => labelsOf(row).length > 0, 10);
    for (const task of tasks) {
      beginPhase(task);
      expect(run(task)).toBe(true);
    }
    const table = finishTasks(tasks, 0);
    return Array.from({ length: 5 }, (_, row) => [...neighborsAt(table, row).rows]);
  };

  it('finds neighbors by labels, by common users, or by labels where there are any', () => {
    expect(neighbors('similar')).toEqual([[], [3, 4], [], [1, 4], [1, 3]]);
    expect(neighbors('related')).toEqual([[1, 2], [0, 2], [0, 1], [], []]);
    expect(neighbors('auto')).toEqual([
      [1, 2],
      [3, 4],
      [0, 1],
      [1, 4],
      [1, 3],
    ]);
  });

  it('refuses to go without a similarity it needs', () => {
    const { labels, related } = similarities;
    expect(() => policyTasks('auto', { labels, related: undefined }, () => true, 5)).toThrow(RangeError);
    expect(() => policyTasks('similar', { labels: undefined, related }, () => true, 5)).toThrow(RangeError);
    expect(() => policyTasks('related', { labels, related: undefined }, () => true, 5)).toThrow(RangeError);
  });
});

describe('where comparing all rows would take too long', () => {
  const similarity = placeSimilarity(itemsByUsers(interactions), {}, 1);

  it('as many of the first are compared as the additions allow', () => {
    const { additions } = similarity;
    expect(rowsWithin(similarity, additions)).toBe(ITEMS);
    const half = rowsWithin(similarity, additions / 2);
    expect(half).toBeGreaterThan(0);
    expect(half).toBeLessThan(ITEMS / 2);
    expect(rowsWithin(similarity, 0)).toBeLessThan(2);
  });

  it('the rows before the end have the neighbors that they would have, and the others none', () => {
    const run = (rowsEnd?: number) => {
      const options = rowsEnd === undefined ? {} : { rowsEnd };
      const task = createNeighborTask(similarity, createDraft(ITEMS, 20), options);
      beginPhase(task);
      runNeighborTask(task, loadKernels(similarity.memory), 0);
      return finishTasks([task], 42);
    };
    const [all, some] = [run(), run(100)];
    for (let row = 0; row < ITEMS; row++) {
      if (row < 100) expect(neighborsAt(some, row)).toEqual(neighborsAt(all, row));
      else expect(neighborsAt(some, row).rows).toHaveLength(0);
    }
  });
});
