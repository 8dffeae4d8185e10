import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { SerialQueue } from '../../src/background/pool/serial-queue.ts';
import { WorkerPool } from '../../src/background/pool/worker-pool.ts';
import { readLastSearch } from '../../src/background/search/last-search.ts';
import { SettingsSearch, type SettingsSearchOptions } from '../../src/background/search/settings-search.ts';
import { TaskList } from '../../src/background/tasks/task-list.ts';
import { createLogger } from '../../src/platform/log/log.ts';
import { type BenchFit, type FitBench, fitBench, NO_PROGRESS, SETTINGS } from './fit-bench.ts';

/** Settings that nobody would leave as they are: hardly any penalty, and hardly a difference to what was not liked. */
const POOR = { ...SETTINGS, regularization: 1e-5, unobservedWeight: 1e-5 };

const pool = new WorkerPool(1);
afterAll(() => pool.close());

const searches: SettingsSearch[] = [];
afterEach(async () => {
  for (const search of searches.splice(0)) await search.stop();
});

function searchOf(
  fitting: BenchFit,
  { lines, stores }: FitBench,
  more: Partial<SettingsSearchOptions> = {},
  queue = new SerialQueue(),
) {
  const search = new SettingsSearch(
    { ...fitting, queue },
    {
      periodMs: 60_000,
      epochs: 9,
      trials: 9,
      clock: () => 1_700_000_000_000,
      log: createLogger('info', { write: (line: string) => void lines.push(line) }),
      tasks: new TaskList(() => 1_700_000_000_000, stores.cache),
      maySearch: () => true,
      ...more,
    },
  );
  searches.push(search);
  return search;
}

describe('a search of settings', () => {
  it('adopts settings that are better, for fits from then on, until the configured ones change', async () => {
    const bench = await fitBench(pool, 1500);
    const training = bench.start({ settings: POOR });
    const before = (await training.fit.run(1, NO_PROGRESS))!;
    const mark = (await searchOf(training, bench).run())!;
    expect(mark).toMatchObject({ number: 1, adopted: true, endedMs: 1_700_000_000_000 });
    expect(await training.als.settings()).toMatchObject({ seed: POOR.seed });
    expect((await training.als.settings()).unobservedWeight).toBeGreaterThan(1e-3);
    const after = (await training.fit.run(2, NO_PROGRESS))!;
    expect(after.unchanged).toBe(false);
    expect(after.generation.parts.als!.header.quality['NDCG@10']).toBeGreaterThan(
      before.generation.parts.als!.header.quality['NDCG@10']!,
    );
    const restarted = bench.start({ settings: POOR });
    expect(await restarted.als.settings()).toEqual(await training.als.settings());
    const changed = { ...POOR, factors: 9 };
    expect(await bench.start({ settings: changed }).als.settings()).toMatchObject(changed);
  });

  it('keeps a record of every trial, and tells of each with how long the rest takes', async () => {
    const bench = await fitBench(pool);
    const training = bench.start();
    const mark = (await searchOf(training, bench).run())!;
    expect(await readLastSearch(bench.stores.cache)).toEqual(mark);
    expect(mark.trials[0]).toMatchObject({ round: 0, settings: SETTINGS });
    expect(mark.trials.filter(({ round }) => round === 1)).toHaveLength(9);
    for (const { quality, seconds, epochs } of mark.trials) {
      expect(quality).toBeGreaterThan(0);
      expect(seconds).toBeGreaterThan(0);
      expect(epochs).toBeGreaterThan(0);
    }
    const told = bench.lines.filter((line) => line.includes('tried settings'));
    expect(told).toHaveLength(mark.trials.length);
    expect(JSON.parse(told[0]!)).toMatchObject({ done: 1, etaSeconds: expect.any(Number) });
  });

  it('tries the same settings after the same start, and others the next time', async () => {
    const settingsOf = async (bench: FitBench) =>
      (await searchOf(bench.start(), bench, { epochs: 1, trials: 3 }).run())!.trials.map(
        ({ settings }) => settings,
      );
    const [one, two] = [await fitBench(pool), await fitBench(pool)];
    const first = await settingsOf(one);
    expect(await settingsOf(two)).toEqual(first);
    expect(await settingsOf(one)).not.toEqual(first);
  });

  it('takes no longer than its period', async () => {
    const bench = await fitBench(pool);
    const search = searchOf(bench.start({ settings: { ...SETTINGS, epochs: 1000 } }), bench, {
      periodMs: 1,
      trials: 1000,
    });
    expect((await search.run())!.trials.length).toBeLessThan(2);
  });

  it('ends with the service, and leaves no mark then', async () => {
    const bench = await fitBench(pool);
    const search = searchOf(bench.start(), bench, { trials: 1000 });
    const run = search.run();
    while (!bench.lines.some((line) => line.includes('tried settings'))) await new Promise(setImmediate);
    await search.stop();
    expect(await run).toBeUndefined();
    expect(await readLastSearch(bench.stores.cache)).toBeUndefined();
  });

  it('never trains while a fit does', async () => {
    const bench = await fitBench(pool);
    const queue = new SerialQueue();
    const events: string[] = [];
    const run = searchOf(bench.start(), bench, { trials: 3, epochs: 1 }, queue).run();
    await queue.take(async () => {
      const before = bench.lines.length;
      for (let waited = 0; waited < 50; waited++) await new Promise(setImmediate);
      events.push(`${bench.lines.length - before} trials during the fit`);
    });
    await run;
    expect(events).toEqual(['0 trials during the fit']);
  });
});

describe('a queue', () => {
  it('runs one after the other, and goes on when one fails', async () => {
    const queue = new SerialQueue();
    const events: string[] = [];
    const work = (name: string) => async () => {
      events.push(`${name} begins`);
      await new Promise(setImmediate);
      events.push(`${name} ends`);
      if (name === 'a') throw new Error('a failed');
    };
    const first = queue.take(work('a'));
    const second = queue.take(work('b'));
    await expect(first).rejects.toThrow('a failed');
    await second;
    expect(events).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  });
});
