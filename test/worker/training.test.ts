import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { viewOf } from '../../src/memory/layout.ts';
import { type AlsTask, alsMemoryBytes } from '../../src/model/als/memory.ts';
import type { PlacedModel } from '../../src/model/als/scorer.ts';
import { fitMemory } from '../../src/model/memory-budget.ts';
import type { JobKind, Jobs } from '../../src/worker/messages.ts';
import { WorkerPool } from '../../src/worker/pool.ts';
import { feedback, putFeedback } from '../store/helpers.ts';
import { fitModel, SETTINGS, trainingBench } from './training-bench.ts';

const sharedPool = new WorkerPool(2);
afterAll(() => sharedPool.close());
const bench = () => trainingBench(sharedPool);

function items({ memory, layout }: PlacedModel): Float32Array {
  return viewOf(memory, layout, 'itemFactors', 'f32').slice();
}

/** Spoils trainings: the first so many that it places get a factor that is not a number. */
class SpoilingPool extends WorkerPool {
  readonly tasks: AlsTask[] = [];
  spoiled: number;

  constructor(spoiled: number) {
    super(1);
    this.spoiled = spoiled;
  }

  override async run<Kind extends JobKind>(
    job: Jobs[Kind]['job'] & { readonly kind: Kind },
  ): Promise<Jobs[Kind]['answer']> {
    const answer = await super.run<Kind>(job);
    if (job.kind === 'place') {
      const task = answer as AlsTask;
      this.tasks.push(task);
      if (this.tasks.length <= this.spoiled) {
        viewOf(task.memory, task.layout, 'userFactors', 'f32')[0] = Number.NaN;
      }
    }
    return answer;
  }
}

const spoilers: SpoilingPool[] = [];
afterEach(async () => {
  for (const pool of spoilers.splice(0)) await pool.close();
});

function spoiling(trainings: number): SpoilingPool {
  const pool = new SpoilingPool(trainings);
  spoilers.push(pool);
  return pool;
}

describe('a training', () => {
  it('is judged, says so in the model, and hands out what it left out', async () => {
    const { training } = await bench();
    const trained = (await fitModel(training(), 1))!;
    const { quality } = trained.placed.header;
    expect(quality['NDCG@10']).toBeGreaterThan(0.1);
    expect(quality.epochs).toBeLessThanOrEqual(SETTINGS.epochs);
    const { heldOut, interactions, positives } = trained.judged!.gathered;
    expect(heldOut.userRows.length).toBeGreaterThan(99);
    expect(heldOut.userRows.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(positives).toBe(interactions.count + heldOut.userRows.length);
  });

  it('keeps the model while feedback and settings stay, and trains anew when either changes', async () => {
    const { training, stores } = await bench();
    const first = training();
    const one = (await fitModel(first, 1))!;
    const two = (await fitModel(first, 2))!;
    expect(two).toMatchObject({ unchanged: true, generation: 1 });
    expect(two.placed).toBe(one.placed);
    const restarted = training({ settings: { ...SETTINGS, regularization: 0.3 } });
    await restarted.load();
    expect(await fitModel(restarted, 2)).toMatchObject({ unchanged: false, generation: 2 });
    await stores.data.write(putFeedback([feedback('like', 'u1', 'i-new')]));
    expect(await fitModel(restarted, 3)).toMatchObject({ unchanged: false, generation: 3 });
  });

  it('keeps a saved model over a restart while feedback and settings stay', async () => {
    const { training } = await bench();
    await fitModel(training(), 7);
    const restarted = training();
    await restarted.load();
    expect(await fitModel(restarted, 8)).toMatchObject({ unchanged: true, generation: 7 });
  });

  it('starts from the last items when told to, and at random otherwise', async () => {
    const { training, stores } = await bench();
    const epochs = 1;
    await fitModel(training({ settings: { ...SETTINGS, factors: 8 } }), 1);
    await stores.data.write(putFeedback([feedback('like', 'u1', 'i-new')]));
    const cold = (await fitModel(training({ settings: { ...SETTINGS, epochs } }), 2))!;
    await fitModel(training({ settings: { ...SETTINGS, factors: 8 } }), 3);
    const warm = (await fitModel(training({ settings: { ...SETTINGS, epochs }, warmStart: true }), 4))!;
    expect(items(warm.placed)).toHaveLength(items(cold.placed).length);
    expect(warm.placed.header.quality['NDCG@10']).toBeGreaterThan(cold.placed.header.quality['NDCG@10']!);
  });
});

describe('a training that goes wrong', () => {
  it('is reported and tried once more with a stronger penalty', async () => {
    const { training, lines } = await bench();
    const pool = spoiling(1);
    const trained = await fitModel(training({}, pool), 1);
    expect(trained?.placed.header.regularization).toBe(10 * SETTINGS.regularization);
    // The spoiled one, the one that took its place, and the one that learns what was held out.
    expect(pool.tasks).toHaveLength(3);
    expect(lines.join()).toContain('its factors are not finite');
  });

  it('leaves the last model when it goes wrong again', async () => {
    const { training, stores } = await bench();
    await fitModel(training(), 1);
    await stores.data.write(putFeedback([feedback('like', 'u1', 'i-new')]));
    const pool = spoiling(2);
    await expect(fitModel(training({}, pool), 2)).rejects.toThrow(
      'diverged twice: its factors are not finite',
    );
    expect((await training().load())?.generation).toBe(1);
  });

  it('goes wrong by itself with settings beyond what numbers hold', async () => {
    const { training } = await bench();
    const settings = { ...SETTINGS, unobservedWeight: 1e38 };
    await expect(fitModel(training({ settings }), 1)).rejects.toThrow('diverged twice');
  });
});

describe('memory', () => {
  it('is refused beyond the limit, with both numbers and the keys that help', async () => {
    const { training } = await bench();
    const refused = fitModel(training({ memoryBytesMax: 2 ** 20, settings: { factors: 512 } }), 1);
    await expect(refused).rejects.toThrow(
      /needs \d+ MiB .* may take 1 MiB: raise \[worker\] memory_max_mb .* factors/,
    );
  });

  it('is what was worked out, for the training and for the model', async () => {
    const { training } = await bench();
    const pool = spoiling(0);
    const { placed } = (await fitModel(training({}, pool), 1))!;
    const [task] = pool.tasks;
    const pages = (bytes: number) => Math.ceil(bytes / 65_536) * 65_536;
    const { userCount, itemCount } = placed.header;
    const held = viewOf(task!.memory, task!.layout, 'heldGoals', 'u32').length;
    const shape = {
      userCount,
      itemCount,
      count: task!.count,
      weighted: false,
      factors: SETTINGS.factors,
      slots: 1,
      heldOut: {
        users: task!.heldOut,
        goals: held,
        entries: viewOf(task!.memory, task!.layout, 'heldColumns', 'u32').length,
        longest: 0,
      },
    };
    expect(task!.layout.bytes).toBeLessThanOrEqual(alsMemoryBytes(shape));
    expect(task!.memory.buffer.byteLength).toBe(pages(alsMemoryBytes(shape)));
    const factorBytes = (userCount + itemCount) * 8 * 4;
    const { training: bytes, models } = fitMemory(shape, { slots: 2, listLengthMax: 100 });
    expect(bytes).toBe(alsMemoryBytes(shape));
    expect(placed.memory.buffer.byteLength).toBe(pages(models / 2 - factorBytes));
  });
});

describe('stopping', () => {
  it('ends a training under way, stores nothing of it, and leaves the store sound', async () => {
    const { training, stores } = await bench();
    await fitModel(training(), 1);
    await stores.data.write(putFeedback([feedback('like', 'u1', 'i-new')]));
    const stopped = training({ settings: { ...SETTINGS, epochs: 1000, factors: 64, solver: 'cholesky' } });
    const told: number[] = [];
    const run = fitModel(stopped, 2, (stage, done) => {
      if (stage !== 'training') return;
      told.push(done);
      if (done === 1) stopped.stop();
    });
    expect(await run).toBeUndefined();
    expect(told).toEqual([0, 1]);
    expect((await training().load())?.generation).toBe(1);
    expect(await fitModel(training(), 2)).toMatchObject({ generation: 2, unchanged: false });
  });

  it('before the training begins, lets it not begin', async () => {
    const { training } = await bench();
    const stopped = training();
    stopped.stop();
    expect(await fitModel(stopped, 1)).toBeUndefined();
  });
});
