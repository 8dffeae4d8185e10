import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { WorkerPool } from '../../src/background/pool/worker-pool.ts';
import { viewOf } from '../../src/memory/memory-layout.ts';
import { alsFitMemory } from '../../src/model/als/memory-estimate.ts';
import { type AlsTask, alsMemoryBytes } from '../../src/model/als/memory-layout.ts';
import type { PlacedModel } from '../../src/model/als/mf-scorer.ts';
import type { Job, JobKind, Jobs, PlacedGeneration, PrepareAnswer } from '../../src/threads/messages.ts';
import { feedback, putFeedback } from '../store/helpers.ts';
import { type BenchFit, fitBench, NO_PROGRESS, SETTINGS } from './fit-bench.ts';
import { storeLikes } from './likes.ts';

const bench = () => fitBench(troubled(2));

function items({ memory, layout }: PlacedModel): Float32Array {
  return viewOf(memory, layout, 'itemFactors', 'f32').slice();
}

async function fitted({ fit }: BenchFit, number: number): Promise<PlacedGeneration> {
  return (await fit.run(number, NO_PROGRESS))!.generation;
}

/** What is done to a job: `spoil` its answer, or `fail` it before or after it ran. */
type Trouble = (job: Job, run: () => Promise<unknown>) => Promise<unknown>;

const noTrouble: Trouble = (_, run) => run();

/** A pool whose jobs meet with trouble. */
class TroubledPool extends WorkerPool {
  readonly running = new Set<Job>();
  trouble = noTrouble;

  override async run<Kind extends JobKind>(
    job: Jobs[Kind]['job'] & { readonly kind: Kind },
  ): Promise<Jobs[Kind]['answer']> {
    this.running.add(job);
    try {
      return (await this.trouble(job, () => super.run<Kind>(job))) as Jobs[Kind]['answer'];
    } finally {
      this.running.delete(job);
    }
  }

  /** Ends the threads that there are, whatever they do, as the system does when memory is short. */
  async killThreads(): Promise<void> {
    await Promise.all(this.pool.threads.map((thread) => thread.terminate()));
  }
}

/** One for each number of threads: the threads of another one compile all of their code again. */
const pools = new Map<number, TroubledPool>();
afterEach(() => {
  for (const pool of pools.values()) {
    pool.trouble = noTrouble;
    pool.running.clear();
  }
});
afterAll(() => Promise.all(Array.from(pools.values(), (pool) => pool.close())));

/** The pool of so many threads, which meets with the trouble until the test ends. */
function troubled(threads: number, trouble = noTrouble): TroubledPool {
  const pool = pools.get(threads) ?? new TroubledPool(threads);
  pools.set(threads, pool);
  pool.trouble = trouble;
  return pool;
}

/** Spoils trainings: the first so many that are placed get a factor that is not a number. */
function spoiling(trainings: number) {
  const tasks: AlsTask[] = [];
  const pool = troubled(1, async (job, run) => {
    const answer = await run();
    if (job.kind !== 'prepare' || job.part !== 'als') return answer;
    const task = (answer as PrepareAnswer).task as AlsTask;
    tasks.push(task);
    if (tasks.length <= trainings) viewOf(task.memory, task.layout, 'userFactors', 'f32')[0] = Number.NaN;
    return answer;
  });
  return { pool, tasks };
}

describe('a fit', () => {
  it('is judged, says so in the model, and hands out what it left out', async () => {
    const { start } = await bench();
    const parts = start();
    const { quality } = (await fitted(parts, 1)).parts.als!.header;
    expect(quality['NDCG@10']).toBeGreaterThan(0.1);
    expect(quality.epochs).toBeLessThanOrEqual(SETTINGS.epochs);
    const { heldOut, interactions, positives } = (await parts.loader.load(true))!;
    expect(heldOut.userRows.length).toBeGreaterThan(99);
    expect(heldOut.userRows.buffer).toBeInstanceOf(SharedArrayBuffer);
    // Feedback of users who have nothing before is left out, too, but not judged by.
    expect(positives).toBe((await parts.loader.load(false))!.interactions.count);
    expect(positives).toBeGreaterThanOrEqual(interactions.count + heldOut.userRows.length);
    expect(interactions.count).toBeLessThan(positives);
  });

  it.each([
    ['most has', 1000],
    ['a tenth has', 50],
  ])(
    'begins anew where %s come meanwhile, as while an import goes on, and learns from all',
    async (_, users) => {
      const { start, stores, lines } = await bench();
      const asked: boolean[] = [];
      const pool = troubled(1, async (job, run) => {
        const answer = await run();
        if (job.kind !== 'gather') return answer;
        asked.push(job.leavesOut);
        if (asked.length === 1) await storeLikes(stores, users);
        return answer;
      });
      const parts = start({ pool });
      const { positives } = (await parts.fit.run(1, NO_PROGRESS))!;
      expect(asked).toEqual([true, false, true, false]);
      expect(positives).toBe((await parts.loader.load(false))!.interactions.count);
      expect(lines.filter((line) => line.includes('the fit begins anew'))).toHaveLength(1);
    },
  );

  it('keeps the generation while feedback and settings stay, and makes a new one when either changes', async () => {
    const { start, stores } = await bench();
    const first = start();
    const one = await fitted(first, 1);
    const two = (await first.fit.run(2, NO_PROGRESS))!;
    expect(two.unchanged).toBe(true);
    expect(two.generation).toBe(one);
    const restarted = start({ settings: { ...SETTINGS, regularization: 0.3 } });
    await restarted.fit.restore();
    expect(await restarted.fit.run(2, NO_PROGRESS)).toMatchObject({
      unchanged: false,
      generation: { number: 2 },
    });
    await stores.data.write(putFeedback([feedback('like', 'u1', 'i-new')]));
    expect(await restarted.fit.run(3, NO_PROGRESS)).toMatchObject({
      unchanged: false,
      generation: { number: 3 },
    });
  });

  it('keeps a saved generation over a restart while feedback and settings stay', async () => {
    const { start } = await bench();
    await fitted(start(), 7);
    const restarted = start();
    await restarted.fit.restore();
    expect(await restarted.fit.run(8, NO_PROGRESS)).toMatchObject({
      unchanged: true,
      generation: { number: 7 },
    });
  });

  it('learns anew how to rank where the candidates come from elsewhere', async () => {
    const { start } = await bench();
    const candidates = { popular: false, collaborative: true, cacheSize: 100 };
    await fitted(start({ options: { candidates } }), 7);
    const same = start({ options: { candidates } });
    await same.fit.restore();
    expect(await same.fit.run(8, NO_PROGRESS)).toMatchObject({ unchanged: true });
    const other = start({ options: { candidates: { ...candidates, popular: true } } });
    await other.fit.restore();
    expect(await other.fit.run(8, NO_PROGRESS)).toMatchObject({ unchanged: false });
  });

  it('starts from the last items when told to, and at random otherwise', async () => {
    const { start, stores } = await bench();
    const settings = { ...SETTINGS, epochs: 1 };
    await fitted(start(), 1);
    await stores.data.write(putFeedback([feedback('like', 'u1', 'i-new')]));
    const cold = await fitted(start({ settings }), 2);
    await fitted(start(), 3);
    const warmed = start({ settings, warmStart: true });
    await warmed.fit.restore();
    const warm = await fitted(warmed, 4);
    expect(items(warm.parts.als!)).toHaveLength(items(cold.parts.als!).length);
    expect(warm.parts.als!.header.quality['NDCG@10']).toBeGreaterThan(
      cold.parts.als!.header.quality['NDCG@10']!,
    );
  });
});

describe('a training that diverges', () => {
  it('is reported and tried once more with a stronger penalty', async () => {
    const { start, lines } = await bench();
    const { pool, tasks } = spoiling(1);
    const { als } = (await fitted(start({ pool }), 1)).parts;
    expect(als?.header.regularization).toBe(10 * SETTINGS.regularization);
    // The spoiled one, the one that took its place, and the one that learns what was held out.
    expect(tasks).toHaveLength(3);
    expect(lines.join()).toContain('its factors are not finite');
  });

  it('leaves the last generation when it diverges again', async () => {
    const { start, stores } = await bench();
    await fitted(start(), 1);
    await stores.data.write(putFeedback([feedback('like', 'u1', 'i-new')]));
    const { fit } = start({ pool: spoiling(2).pool });
    await expect(fit.run(2, NO_PROGRESS)).rejects.toThrow('diverged twice: its factors are not finite');
    expect((await start().fit.restore())?.number).toBe(1);
  });

  it('does so by itself with settings beyond what numbers hold', async () => {
    const { start } = await bench();
    const { fit } = start({ settings: { ...SETTINGS, unobservedWeight: 1e38 } });
    await expect(fit.run(1, NO_PROGRESS)).rejects.toThrow('diverged twice');
  });
});

describe('a stage that fails', () => {
  /** Fails the first `times` jobs that match. */
  const failing = (matches: (job: Job) => boolean, times: number): Trouble => {
    let left = times;
    return async (job, run) => {
      if (!matches(job) || left === 0) return run();
      left--;
      throw new Error('the disk is on fire');
    };
  };
  const STAGES: readonly (readonly [name: string, matches: (job: Job) => boolean])[] = [
    ['preparing ALS', (job) => job.kind === 'prepare' && job.part === 'als'],
    ['a thread of ALS', (job) => job.kind === 'run' && job.part === 'als' && job.slot === 1],
    ['finishing ALS', (job) => job.kind === 'finish' && job.part === 'als'],
    ['preparing items', (job) => job.kind === 'prepare' && job.part === 'itemNeighbors'],
    ['a thread of items', (job) => job.kind === 'run' && job.part === 'itemNeighbors' && job.slot === 0],
    ['finishing items', (job) => job.kind === 'finish' && job.part === 'itemNeighbors'],
    ['indexing users', (job) => job.kind === 'prepare' && job.part === 'userNeighbors'],
  ];
  const options = { usesUsers: true };
  let expected: PlacedGeneration;
  beforeAll(async () => {
    expected = await fitted((await bench()).start({ options }), 1);
  });

  it.each(STAGES)('%s is tried again, with the same bits in the end', async (_name, matches) => {
    const { start } = await bench();
    const pool = troubled(2, failing(matches, 1));
    const generation = await fitted(start({ pool, options }), 1);
    expect(items(generation.parts.als!)).toEqual(items(expected.parts.als!));
    expect(generation.parts.itemNeighbors).toEqual(expected.parts.itemNeighbors);
    expect(generation.parts.userNeighbors?.byItems).toBeDefined();
    expect(pool.running.size).toBe(0);
  });

  it('for good leaves out what can be left out, and the next fit tries again', async () => {
    const { start, lines } = await bench();
    const matches = (job: Job) => job.kind === 'run' && job.part === 'itemNeighbors';
    const { fit } = start({ pool: troubled(2, failing(matches, 4)), options });
    const { generation } = (await fit.run(1, NO_PROGRESS))!;
    expect(generation.parts.als).toBeDefined();
    expect(generation.parts.userNeighbors).toBeDefined();
    expect(generation.parts.itemNeighbors).toBeUndefined();
    expect(lines.join()).toContain('the disk is on fire');
    const next = (await fit.run(2, NO_PROGRESS))!;
    expect(next.unchanged).toBe(false);
    expect(next.generation.parts.itemNeighbors).toBeDefined();
  });

  it('for good in click-through leaves the other parts to rank by', async () => {
    const { start } = await bench();
    const placed = new Set<string>();
    const matches = (job: Job) => {
      if (job.kind === 'finish') placed.add(job.part);
      return job.kind === 'run' && job.part === 'click';
    };
    const pool = troubled(2, failing(matches, Number.POSITIVE_INFINITY));
    const generation = await fitted(start({ pool, options: { clickThrough: true } }), 1);
    expect(generation.parts.click).toBeUndefined();
    expect([...placed]).toEqual(expect.arrayContaining(['slim', 'itemKnn', 'sequence']));
  });

  it('for good in the collaborative model leaves the generation before it whole', async () => {
    const { start, stores } = await bench();
    const one = await fitted(start(), 1);
    await stores.data.write(putFeedback([feedback('like', 'u1', 'i-new')]));
    let finished = 0;
    // The judged model is finished; the one with everything is not.
    const matches = (job: Job) => job.kind === 'finish' && job.part === 'als' && ++finished > 1;
    const pool = troubled(2, failing(matches, 2));
    await expect(start({ pool }).fit.run(2, NO_PROGRESS)).rejects.toThrow('on fire');
    expect(pool.running.size).toBe(0);
    const restored = (await start().fit.restore())!;
    expect(restored.number).toBe(1);
    expect(items(restored.parts.als!)).toEqual(items(one.parts.als!));
    expect(restored.parts.itemNeighbors).toEqual(one.parts.itemNeighbors);
  });

  it('because its thread was killed is tried again, and nothing else runs on', async () => {
    const { start, lines } = await bench();
    let kills = 1;
    const pool: TroubledPool = troubled(2, async (job, run) => {
      const done = run();
      if (job.kind === 'run' && job.part === 'als' && kills > 0) {
        kills--;
        await pool.killThreads();
      }
      return done;
    });
    const generation = await fitted(start({ pool, options }), 1);
    expect(items(generation.parts.als!)).toEqual(items(expected.parts.als!));
    expect(lines.join()).toContain('Training ALS failed; trying again');
    expect(pool.running.size).toBe(0);
  });
});

describe('memory', () => {
  it('is refused beyond the limit, with both numbers and the keys that help', async () => {
    const { start } = await bench();
    const { fit } = start({ memoryBytesMax: 2 ** 20, settings: { factors: 512 } });
    await expect(fit.run(1, NO_PROGRESS)).rejects.toThrow(
      /Training ALS needs \d+ MiB .* may take 1 MiB: raise \[worker\] memory_max_mb .* factors/,
    );
  });

  it('is what was worked out, for the training and for the model', async () => {
    const { start } = await bench();
    const { pool, tasks } = spoiling(0);
    const placed = (await fitted(start({ pool }), 1)).parts.als!;
    const [task] = tasks;
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
    expect(task!.layout.bytes).toBeLessThanOrEqual(alsMemoryBytes(shape).all);
    expect(task!.memory.buffer.byteLength).toBe(pages(alsMemoryBytes(shape).piece));
    const factorBytes = itemCount * 8 * 4;
    const { training: bytes, models } = alsFitMemory(shape, { slots: pool.slots, listLengthMax: 100 });
    expect(bytes).toBe(alsMemoryBytes(shape).all);
    expect(placed.memory.buffer.byteLength).toBeGreaterThanOrEqual(pages(models / 2 - factorBytes));
  });

  it('of one training is used again by the next', async () => {
    const { start } = await bench();
    const { pool, tasks } = spoiling(0);
    await fitted(start({ pool }), 1);
    const [judged, finished] = tasks;
    // Two handles of one memory: what is written through one is read through the other.
    const [one, other] = [judged!, finished!].map(({ memory }) => new Uint8Array(memory.buffer));
    one![0] = 123;
    expect(other![0]).toBe(123);
  });
});

describe('a cancelled fit', () => {
  it.each(['gather', 'prepare'])('does not wait for a thread at %s, and lets it know', async (kind) => {
    const { start } = await bench();
    let reading = (_job: Job) => {};
    const begun = new Promise<Job>((resolve) => {
      reading = resolve;
    });
    const pool = troubled(1, (job, run) => {
      if (job.kind !== kind) return run();
      reading(job);
      return new Promise(() => {});
    });
    const { fit } = start({ pool });
    const run = fit.run(1, NO_PROGRESS);
    const job = (await begun) as Jobs['gather' | 'prepare']['job'];
    expect(job.cancelled[0]).toBe(0);
    fit.stop();
    expect(await run).toBeUndefined();
    expect(job.cancelled[0]).toBe(1);
  });

  it('leaves nothing out of the generation that is taken over next', async () => {
    const { start } = await bench();
    await fitted(start(), 1);
    const { fit } = start({ options: { usesUsers: true } });
    fit.cancel();
    await fit.restore();
    expect((await fit.indexServing())?.parts.userNeighbors).toBeDefined();
  });
});

describe('a start', () => {
  it('does not wait until all feedback is read to compare users, which comes after', async () => {
    const { start } = await bench();
    await fitted(start(), 1);
    const { fit, loader } = start({ options: { usesUsers: true } });
    const load = vi.spyOn(loader, 'load');
    const restored = (await fit.restore())!;
    expect(restored.number).toBe(1);
    expect(load).not.toHaveBeenCalled();
    expect(restored.parts.userNeighbors).toBeUndefined();
    expect(await fit.indexServing()).toMatchObject({
      number: 1,
      parts: { userNeighbors: { rows: expect.anything() } },
    });
    expect(load).toHaveBeenCalledOnce();
    expect(await fit.indexServing()).toBeUndefined();
  });
});

describe('stopping', () => {
  it('ends a training under way, stores nothing of it, and leaves the store sound', async () => {
    const { start, stores } = await bench();
    await fitted(start(), 1);
    await stores.data.write(putFeedback([feedback('like', 'u1', 'i-new')]));
    const settings = { ...SETTINGS, epochs: 1000, factors: 64, solver: 'cholesky' } as const;
    const { fit } = start({ settings });
    const told: number[] = [];
    const run = fit.run(2, (stage, done) => {
      if (stage !== 'Training ALS') return;
      told.push(done);
      if (done === 1) fit.stop();
    });
    expect(await run).toBeUndefined();
    expect(told).toEqual([0, 1]);
    expect((await start().fit.restore())?.number).toBe(1);
    expect(await start().fit.run(2, NO_PROGRESS)).toMatchObject({
      generation: { number: 2 },
      unchanged: false,
    });
  });

  it('before the training begins, lets it not begin', async () => {
    const { fit } = (await bench()).start();
    fit.stop();
    expect(await fit.run(1, NO_PROGRESS)).toBeUndefined();
  });
});
