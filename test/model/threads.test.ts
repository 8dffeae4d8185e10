import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { driveAls, finish, fitAls } from '../../bench/fit-in-thread.ts';
import { buildInteractions, type Interactions } from '../../src/dataset/interactions.ts';
import { createRandom } from '../../src/domain/random.ts';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import { AlsSolver } from '../../src/model/als/als-solver.ts';
import {
  type AlsStart,
  GRAMIAN_CHUNK_ROWS,
  gramianChunks,
  placeAls,
} from '../../src/model/als/memory-layout.ts';
import type { MatrixFactorization } from '../../src/model/als/model.ts';
import { type AlsSettings, alsSettings } from '../../src/model/als/settings.ts';
import { trainedModel } from '../../src/model/als/train-and-serve.ts';
import { type AlsPhase, alsPhases } from '../../src/model/als/training-task.ts';
import { beginPhase } from '../../src/model/part/chunks-for-threads.ts';
import { threadEntry } from '../../src/platform/program/thread-entry.ts';
import { tastes } from './tastes.ts';

/** More users than a Gramian's chunk and more rows than threads take at a time, with lists of uneven length. */
function uneven(): Interactions {
  const random = createRandom(3);
  const [userCount, itemCount] = [GRAMIAN_CHUNK_ROWS * 2 + 100, 90];
  const userRows: number[] = [];
  const itemRows: number[] = [];
  const weights: number[] = [];
  for (let user = 0; user < userCount; user++) {
    for (let left = random.below(12); left > 0; left--) {
      userRows.push(user);
      itemRows.push(Math.floor(itemCount * random.float() ** 3));
      weights.push(0.5 + random.float());
    }
  }
  return buildInteractions({ userCount, itemCount, userRows, itemRows, weights });
}

async function fitInThreads(
  data: Interactions,
  settings: AlsSettings,
  threads: number,
  start: AlsStart = {},
): Promise<MatrixFactorization> {
  const task = placeAls(data, settings, threads, start);
  const { url, execArgv } = threadEntry(import.meta.url, './als/als-thread');
  const workers = Array.from(
    { length: threads },
    (_, slot) => new Worker(url, { execArgv, workerData: { task, slot } }),
  );
  const all = () => Promise.all(workers.map((worker) => once(worker, 'message')));
  try {
    await all();
    const runPhase = async (phase: AlsPhase) => {
      const done = all();
      for (const worker of workers) worker.postMessage(phase);
      await done;
    };
    for await (const _epoch of driveAls(task, runPhase));
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
  return trainedModel(task, 0);
}

/** Takes a phase's chunks from the last to the first, by turns in each of the task's slots. */
function fitBackwards(data: Interactions, settings: AlsSettings, slots: number): MatrixFactorization {
  const task = placeAls(data, settings, slots);
  const solvers = Array.from(
    { length: slots },
    (_, slot) => new AlsSolver(task, loadKernels(task.memory), slot),
  );
  for (const phase of alsPhases(settings.epochs)) {
    const { kind, side } = phase;
    beginPhase(task);
    const rows = side === 'user' ? data.userCount : data.itemCount;
    const others = side === 'user' ? data.itemCount : data.userCount;
    if (kind === 'gramian') {
      for (let chunk = gramianChunks(others) - 1; chunk >= 0; chunk--) {
        solvers[chunk % slots]!.gramianChunk(side, chunk);
      }
      continue;
    }
    if (kind !== 'solve') {
      solvers[phase.epoch % slots]!.runPhase(phase);
      continue;
    }
    for (const solver of solvers) solver.sumGramian(side);
    for (let row = rows - 1; row >= 0; row--) solvers[row % slots]!.solveRows(side, row, row + 1);
  }
  return trainedModel(task, 0);
}

describe.each(['cg', 'cholesky'] as const)('ALS by %s', (solver) => {
  const data = uneven();
  const settings = alsSettings({ factors: 10, epochs: 3, solver, seed: 9 });

  it('gives the same bits with 1, 2 and 4 threads', async () => {
    const one = await fitInThreads(data, settings, 1);
    const two = await fitInThreads(data, settings, 2);
    const four = await fitInThreads(data, settings, 4);
    expect(one.userFactors.some((value) => value !== 0)).toBe(true);
    expect(bits(two)).toEqual(bits(one));
    expect(bits(four)).toEqual(bits(one));
  });

  it('gives the same bits whatever order the chunks are taken in', async () => {
    const expected = bits(await fitInThreads(data, settings, 1));
    expect(bits(fitBackwards(data, settings, 1))).toEqual(expected);
    expect(bits(fitBackwards(data, settings, 3))).toEqual(expected);
  });
});

describe('ALS that is judged on held-out records', () => {
  const { train, heldOut } = tastes();

  it('ends at the same epoch with the same bits with 1, 2 and 4 threads', async () => {
    const settings = alsSettings({ factors: 10, epochs: 30, regularization: 0.3, seed: 9 });
    const inThisThread = finish(fitAls(train, settings, loadKernels, { heldOut }));
    expect(inThisThread.quality.epochs).toBeLessThan(27);
    for (const threads of [1, 2, 4]) {
      const model = await fitInThreads(train, settings, threads, { heldOut });
      expect(bits(model), `${threads} threads`).toEqual(bits(inThisThread));
    }
  });
});

function bits({ userFactors, itemFactors }: MatrixFactorization): Buffer {
  return Buffer.concat([Buffer.from(userFactors.buffer), Buffer.from(itemFactors.buffer)]);
}
