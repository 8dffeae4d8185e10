import { describe, expect, it } from 'vitest';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { AlsSolver } from '../../../src/model/als/als-solver.ts';
import { alsCourse } from '../../../src/model/als/epochs-and-early-stopping.ts';
import { alsMemoryBytes, alsShape, placeAls } from '../../../src/model/als/memory-layout.ts';
import { type AlsSettings, alsSettings } from '../../../src/model/als/settings.ts';
import { type Sharding, shardingOf } from '../../../src/model/als/sharding.ts';
import { neededSharding, trainedModel } from '../../../src/model/als/train-and-serve.ts';
import type { AlsTask } from '../../../src/model/als/training-task.ts';
import { beginPhase } from '../../../src/model/part/chunks-for-threads.ts';
import { tastes } from '../tastes.ts';

const { train, heldOut } = tastes(4500, 60);
const instantiate = (memory: WebAssembly.Memory) => loadKernels(memory);
const SETTINGS = alsSettings({ factors: 8, epochs: 2, seed: 3 });
const MIB = 2 ** 20;

/** Trains by threads that take turns. */
function run(task: AlsTask): AlsTask {
  const solvers = Array.from(
    { length: task.slots },
    (_, slot) => new AlsSolver(task, instantiate(task.memory), slot),
  );
  const course = alsCourse(task);
  for (let step = course.next(); step.done !== true; step = course.next()) {
    if (step.value.kind === 'epoch') continue;
    beginPhase(task);
    for (const solver of solvers) solver.runPhase(step.value);
  }
  return task;
}

function learn(
  given: Partial<Sharding> | undefined,
  settings: AlsSettings = SETTINGS,
  slots = 1,
  data = train,
) {
  const sharding = given && shardingOf(data, settings.factors, given);
  const task = run(placeAls(data, settings, slots, { heldOut }, undefined, sharding));
  return { model: trainedModel(task, 0), shards: task.shards?.memories.length ?? 0 };
}

const weighted = {
  ...train,
  byUser: { ...train.byUser, weights: Float32Array.from(train.byUser.indices, (item) => 1 + (item % 3)) },
  byItem: {
    ...train.byItem,
    weights: Float32Array.from(train.byItem.indices, (_, at) => 1 + (itemOf(at) % 3)),
  },
};

function itemOf(at: number): number {
  return train.byItem.indptr.findLastIndex((start) => start <= at);
}

describe('a training whose users are divided', () => {
  const whole = learn(undefined);

  it('has the same bits as one in one memory, for any number of shards', () => {
    for (const [rowsPerShard, shards] of [
      [2048, 3],
      [4096, 2],
      [8192, 1],
    ] as const) {
      const divided = learn({ rowsPerShard });
      expect(divided.shards).toBe(shards);
      expect(divided.model).toEqual(whole.model);
    }
  });

  it('has them for any number of threads, solver and with weights', () => {
    expect(learn({ rowsPerShard: 2048 }, SETTINGS, 3).model).toEqual(whole.model);
    const exact = { ...SETTINGS, solver: 'cholesky', factors: 4 } as const;
    expect(learn({ rowsPerShard: 2048 }, exact).model).toEqual(learn(undefined, exact).model);
    const one = learn(undefined, SETTINGS, 1, weighted).model;
    expect(one).not.toEqual(whole.model);
    expect(learn({ rowsPerShard: 2048 }, SETTINGS, 1, weighted).model).toEqual(one);
  });

  it('differs by less than a hundredth where items have more users than a stage holds', () => {
    for (const data of [train, weighted]) {
      const exact = { ...SETTINGS, steps: 20 };
      const divided = learn(
        { rowsPerShard: 2048, stageRows: 2048, chunkEntries: 2048 },
        exact,
        1,
        data,
      ).model;
      const blocks = learnInBlocks(exact, data);
      const norm = Math.sqrt(divided.itemFactors.reduce((sum, value) => sum + value * value, 0));
      const apart = divided.itemFactors.reduce((sum, value, at) => sum + (value - blocks[at]!) ** 2, 0);
      expect(Math.sqrt(apart)).toBeGreaterThan(0);
      expect(Math.sqrt(apart) / norm).toBeLessThan(0.01);
    }
  });

  it('is what a training becomes that does not fit otherwise', () => {
    const shape = alsShape(train, SETTINGS, 1, heldOut);
    const serving = { slots: 1, listLengthMax: 100 };
    expect(neededSharding(shape, train, serving, 1000 * MIB)).toBeUndefined();
    const small = { ...shape, userCount: 10, count: 20 };
    expect(neededSharding(small, train, serving, 1000)).toBeUndefined();
    const sharding = shardingOf(train, SETTINGS.factors);
    expect(sharding.stageRows).toBeGreaterThanOrEqual(2048);
    const large = { ...shape, userCount: 90_000_000, count: 200_000_000 };
    expect(alsMemoryBytes(large).piece).toBeGreaterThan(4096 * MIB);
    expect(neededSharding(large, train, serving, 1e12)).toEqual(sharding);
    const medium = { ...shape, userCount: 1_000_000, count: 20_000_000 };
    expect(neededSharding(medium, train, serving, 1e12)).toBeUndefined();
    expect(neededSharding(medium, train, serving, 100 * MIB)).toEqual(sharding);
    expect(alsMemoryBytes({ ...large, sharding }).piece).toBeLessThan(300 * MIB);
    expect(alsMemoryBytes({ ...large, sharding }).all).toBeLessThan(alsMemoryBytes(large).all - 200e6 * 8);
  });
});

/** The item factors of a training whose stages hold so little that popular items are solved in blocks. */
function learnInBlocks(settings: AlsSettings, data: typeof train): Float32Array {
  const sharding = shardingOf(data, settings.factors, { rowsPerShard: 2048 });
  const task = placeAls(data, settings, 1, { heldOut }, undefined, sharding);
  const shards = { ...task.shards!, stageRows: 64 };
  return trainedModel(run({ ...task, shards }), 0).itemFactors;
}
