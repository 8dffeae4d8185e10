import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { type BprTask, cellStartsAt, placeBpr } from '../../bench/baselines/bpr/memory.ts';
import { bprSettings } from '../../bench/baselines/bpr/settings.ts';
import {
  type BprPhase,
  BprSolver,
  beginBprPhase,
  bprPhases,
  cancelBpr,
} from '../../bench/baselines/bpr/solver.ts';
import { bprModel, driveBpr, fitBpr } from '../../bench/baselines/bpr/train.ts';
import { finish } from '../../bench/fit-in-thread.ts';
import { buildInteractions, rowIndices } from '../../src/dataset/interactions.ts';
import { createRandom } from '../../src/domain/random.ts';
import { viewOf } from '../../src/memory/layout-builder.ts';
import type { MatrixFactorization } from '../../src/model/als/model.ts';
import { threadEntry } from '../../src/platform/program/thread-entry.ts';

const SETTINGS = { factors: 10, epochs: 3, seed: 4 };

/** Enough rows for four blocks, with lists of uneven length; some users and items have nothing. */
const random = createRandom(8);
const pairs = Array.from({ length: 16_000 }, () => [
  Math.floor(1300 * random.float() ** 1.5),
  Math.floor(1100 * random.float() ** 2),
]);
const data = buildInteractions({
  userCount: 1300,
  itemCount: 1100,
  userRows: pairs.map(([user]) => user!),
  itemRows: pairs.map(([, item]) => item!),
});

function bits({ userFactors, itemFactors }: MatrixFactorization): Buffer {
  return Buffer.concat([Buffer.from(userFactors.buffer), Buffer.from(itemFactors.buffer)]);
}

async function fitInThreads(threads: number): Promise<MatrixFactorization> {
  const task = placeBpr(data, bprSettings(SETTINGS));
  const { url, execArgv } = threadEntry(import.meta.url, './bpr-thread');
  const workers = Array.from({ length: threads }, () => new Worker(url, { execArgv, workerData: task }));
  const all = () => Promise.all(workers.map((worker) => once(worker, 'message')));
  await all();
  const runPhase = async (phase: BprPhase) => {
    const done = all();
    for (const worker of workers) worker.postMessage(phase);
    await done;
  };
  for await (const _epoch of driveBpr(task, runPhase));
  await Promise.all(workers.map((worker) => worker.terminate()));
  return bprModel(task, 0);
}

/** Runs the phases of one epoch up to the first steps. */
function dealt(epoch: number): BprTask {
  const task = placeBpr(data, bprSettings(SETTINGS));
  const solver = new BprSolver(task);
  for (const phase of bprPhases(task, epoch)) {
    if (phase.kind === 'steps') break;
    beginBprPhase(task);
    solver.runPhase(phase);
  }
  return task;
}

/** All entries as the cells have them: user and item by their rows. */
function entriesOf(task: BprTask): Map<string, string[]> {
  const u32 = (name: string) => viewOf(task.memory, task.layout, name, 'u32');
  const [userBlocks, itemBlocks, starts] = [u32('userBlocks'), u32('itemBlocks'), u32('cellStarts')];
  const cells = new Map<string, string[]>();
  for (let userBlock = 0; userBlock < task.blocks; userBlock++) {
    for (let itemBlock = 0; itemBlock < task.blocks; itemBlock++) {
      const entries: string[] = [];
      const at = cellStartsAt(userBlocks, task.blocks, userBlock, itemBlock);
      const rows = userBlocks[userBlock + 1]! - userBlocks[userBlock]!;
      for (let row = 0; row < rows; row++) {
        for (let entry = starts[at + row]!; entry < starts[at + row + 1]!; entry++) {
          expect(u32('cellUsers')[entry]).toBe(row);
          const item = u32('dealtItems')[itemBlocks[itemBlock]! + u32('cellItems')[entry]!]!;
          entries.push(`${userBlocks[userBlock]! + row} ${item}`);
        }
      }
      cells.set(`${userBlock} ${itemBlock}`, entries);
    }
  }
  return cells;
}

describe('BPR', () => {
  it('gives the same bits with 1, 2 and 4 threads, and in this thread', async () => {
    const expected = finish(fitBpr(data, SETTINGS));
    for (const threads of [1, 2, 4]) {
      expect(bits(await fitInThreads(threads)), `${threads} threads`).toEqual(bits(expected));
    }
  });

  it('puts every entry in one cell, and deals the items anew in every epoch', () => {
    const all = Array.from({ length: data.userCount }, (_, user) =>
      Array.from(rowIndices(data.byUser, user), (item) => `${user} ${item}`),
    ).flat();
    const [first, second] = [entriesOf(dealt(0)), entriesOf(dealt(1))];
    expect(first.size).toBe(16);
    expect([...first.values()].flat().sort()).toEqual(all.toSorted());
    expect([...second.values()].flat().sort()).toEqual(all.toSorted());
    expect(second.get('0 0')).not.toEqual(first.get('0 0'));
  });

  it('lets no two cells of a turn share a user or an item', () => {
    const task = placeBpr(data, bprSettings(SETTINGS));
    const turns = [...bprPhases(task, 0)].flatMap((phase) => (phase.kind === 'steps' ? [phase.turn] : []));
    expect(turns).toEqual([0, 1, 2, 3]);
    const cells = entriesOf(dealt(0));
    for (const turn of turns) {
      const items = [0, 1, 2, 3].map(
        (block) => new Set(cells.get(`${block} ${(block + turn) % 4}`)!.map((entry) => entry.split(' ')[1])),
      );
      expect(new Set(items.flatMap((set) => [...set])).size).toBe(
        items.reduce((sum, { size }) => sum + size, 0),
      );
    }
  });

  it('leaves rows of a single block as they lie', () => {
    const small = buildInteractions({ userCount: 3, itemCount: 4, userRows: [0, 1, 2], itemRows: [3, 0, 1] });
    expect(placeBpr(small, bprSettings(SETTINGS)).blocks).toBe(1);
    const model = finish(fitBpr(small, { ...SETTINGS, epochs: 50 }));
    expect(model.itemFactors.every(Number.isFinite)).toBe(true);
  });

  it('stops at the next chunk when cancelled', () => {
    const task = placeBpr(data, bprSettings(SETTINGS));
    const solver = new BprSolver(task);
    const [phase] = [...bprPhases(task, 0)];
    beginBprPhase(task);
    expect(solver.runPhase(phase!)).toBe(true);
    cancelBpr(task);
    expect(solver.runPhase(phase!)).toBe(false);
  });

  it('refuses settings out of range', () => {
    expect(() => bprSettings({ learningRate: 0 })).toThrow('learningRate above 0');
    expect(() => bprSettings({ factors: 0 })).toThrow('factors 1 to 1024');
  });
});
