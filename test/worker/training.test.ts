import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/domain/log.ts';
import { viewOf } from '../../src/memory/layout.ts';
import { type AlsTask, alsMemoryBytes } from '../../src/model/als-memory.ts';
import { fitMemory } from '../../src/model/memory-budget.ts';
import type { PlacedModel } from '../../src/model/mf-scorer.ts';
import type { Stores } from '../../src/store/open-store.ts';
import type { JobKind, Jobs } from '../../src/worker/messages.ts';
import { WorkerPool } from '../../src/worker/pool.ts';
import { Training, type TrainingOptions } from '../../src/worker/training.ts';
import { feedback, openIn, putFeedback, storeOptions, tempFolder } from '../store/helpers.ts';
import { storeLikes } from './likes.ts';

const NOW_MS = Date.parse('2024-06-01T00:00:00Z');
const SETTINGS = { factors: 8, epochs: 12, regularization: 0.2, seed: 3 };

const sharedPool = new WorkerPool(2);
const pools: WorkerPool[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close();
});
afterAll(() => sharedPool.close());

interface Bench {
  readonly stores: Stores;
  readonly lines: string[];
  training(more?: Partial<TrainingOptions>, pool?: WorkerPool): Training;
}

async function bench(): Promise<Bench> {
  const folder = tempFolder();
  const stores = openIn(folder);
  await storeLikes(stores);
  const lines: string[] = [];
  const { dataPath, cachePath } = storeOptions(folder);
  return {
    stores,
    lines,
    training: (more, pool = sharedPool) => {
      if (pool !== sharedPool) pools.push(pool);
      return new Training(pool, {
        dataPath,
        cachePath,
        settings: SETTINGS,
        warmStart: false,
        positiveTypes: ['like'],
        positiveTtlMs: Number.POSITIVE_INFINITY,
        clockErrorMs: 0,
        listLengthMax: 100,
        memoryBytesMax: 2 ** 30,
        marks: stores.cache,
        clock: () => NOW_MS,
        log: createLogger('info', { write: (line: string) => void lines.push(line) }),
        ...more,
      });
    },
  };
}

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

describe('a training', () => {
  it('is judged, says so in the model, and hands out what it left out', async () => {
    const { training } = await bench();
    const trained = (await training().run(1))!;
    const { quality } = trained.placed.header;
    expect(quality['NDCG@10']).toBeGreaterThan(0.1);
    expect(quality.epochs).toBeLessThanOrEqual(SETTINGS.epochs);
    expect(trained.heldOut.userRows.length).toBeGreaterThan(99);
    expect(trained.heldOut.userRows.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(trained.positives).toBeGreaterThan(trained.heldOut.userRows.length);
  });

  it('keeps the model while feedback and settings stay, and trains anew when either changes', async () => {
    const { training, stores } = await bench();
    const first = training();
    const one = (await first.run(1))!;
    const two = (await first.run(2))!;
    expect(two).toMatchObject({ unchanged: true, generation: 1 });
    expect(two.placed).toBe(one.placed);
    const restarted = training({ settings: { ...SETTINGS, regularization: 0.3 } });
    await restarted.load();
    expect(await restarted.run(2)).toMatchObject({ unchanged: false, generation: 2 });
    await stores.data.write(putFeedback([feedback('like', 'u1', 'i-new')]));
    expect(await restarted.run(3)).toMatchObject({ unchanged: false, generation: 3 });
  });

  it('keeps a saved model over a restart while feedback and settings stay', async () => {
    const { training } = await bench();
    await training().run(7);
    const restarted = training();
    await restarted.load();
    expect(await restarted.run(8)).toMatchObject({ unchanged: true, generation: 7 });
  });

  it('starts from the last items when told to, and at random otherwise', async () => {
    const { training, stores } = await bench();
    const epochs = 1;
    await training({ settings: { ...SETTINGS, factors: 8 } }).run(1);
    await stores.data.write(putFeedback([feedback('like', 'u1', 'i-new')]));
    const cold = (await training({ settings: { ...SETTINGS, epochs } }).run(2))!;
    await training({ settings: { ...SETTINGS, factors: 8 } }).run(3);
    const warm = (await training({ settings: { ...SETTINGS, epochs }, warmStart: true }).run(4))!;
    expect(items(warm.placed)).toHaveLength(items(cold.placed).length);
    expect(warm.placed.header.quality['NDCG@10']).toBeGreaterThan(cold.placed.header.quality['NDCG@10']!);
  });
});

describe('a training that goes wrong', () => {
  it('is reported and tried once more with a stronger penalty', async () => {
    const { training, lines } = await bench();
    const pool = new SpoilingPool(1);
    const trained = await training({}, pool).run(1);
    expect(trained?.placed.header.regularization).toBe(10 * SETTINGS.regularization);
    expect(pool.tasks).toHaveLength(2);
    expect(lines.join()).toContain('its factors are not finite');
  });

  it('leaves the last model when it goes wrong again', async () => {
    const { training, stores } = await bench();
    await training().run(1);
    await stores.data.write(putFeedback([feedback('like', 'u1', 'i-new')]));
    const pool = new SpoilingPool(2);
    await expect(training({}, pool).run(2)).rejects.toThrow('diverged twice: its factors are not finite');
    expect((await training().load())?.generation).toBe(1);
  });

  it('goes wrong by itself with settings beyond what numbers hold', async () => {
    const { training } = await bench();
    const settings = { ...SETTINGS, unobservedWeight: 1e38 };
    await expect(training({ settings }).run(1)).rejects.toThrow('diverged twice');
  });
});

describe('memory', () => {
  it('is refused beyond the limit, with both numbers and the keys that help', async () => {
    const { training } = await bench();
    const refused = training({ memoryBytesMax: 2 ** 20, settings: { factors: 512 } }).run(1);
    await expect(refused).rejects.toThrow(
      /needs \d+ MiB .* may take 1 MiB: raise \[worker\] memory_max_mb .* factors/,
    );
  });

  it('is what was worked out, for the training and for the model', async () => {
    const { training } = await bench();
    const pool = new SpoilingPool(0);
    const { placed } = (await training({}, pool).run(1))!;
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
    await training().run(1);
    await stores.data.write(putFeedback([feedback('like', 'u1', 'i-new')]));
    const stopped = training({ settings: { ...SETTINGS, epochs: 1000, factors: 64, solver: 'cholesky' } });
    const told: number[] = [];
    const run = stopped.run(2, (stage, done) => {
      if (stage !== 'training') return;
      told.push(done);
      if (done === 1) stopped.stop();
    });
    expect(await run).toBeUndefined();
    expect(told).toEqual([0, 1]);
    expect((await training().load())?.generation).toBe(1);
    expect(await training().run(2)).toMatchObject({ generation: 2, unchanged: false });
  });

  it('before the training begins, lets it not begin', async () => {
    const { training } = await bench();
    const stopped = training();
    stopped.stop();
    expect(await stopped.run(1)).toBeUndefined();
  });
});
