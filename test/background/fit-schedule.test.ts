import { expect, it, vi } from 'vitest';
import { FitSchedule, type FitScheduleParts } from '../../src/background/fit/fit-schedule.ts';
import { SerialQueue } from '../../src/background/pool/serial-queue.ts';
import { createLogger } from '../../src/platform/log/log.ts';
import type { Ranking } from '../../src/recommend/models/feature-names.ts';
import { GenerationSlot } from '../../src/recommend/models/generation-slot.ts';

it('users that are compared after a start change nothing of what new items are like, nor of what likes have taught the ranking', async () => {
  const generations = new GenerationSlot();
  const restored = { number: 3, ranking: undefined, parts: {} };
  const indexed = { ...restored };
  const knowItems = vi.fn(async () => {});
  const use = vi.fn();
  const missingFrom = vi.fn(async () => undefined);
  const fits = new FitSchedule({
    generationFit: { restore: async () => restored, indexServing: async () => indexed, stop() {} },
    listPass: { missingFrom, stop() {} },
    listsOnRequest: { use },
    servingSlot: 0,
    queue: new SerialQueue(),
    recommendation: {
      generations,
      sinceFit: { serve() {} },
      live: { knowItems },
      lists: { passes: undefined },
      settings: { discovery: 0 },
    },
    periodMs: 1e9,
    firstPeriodMs: 1e9,
    settleMs: 1e9,
    log: createLogger('silent'),
    cluster: undefined,
    makesLists: () => true,
  } as unknown as FitScheduleParts);
  await fits.restore(Promise.resolve(undefined));
  const ranking = { byKind: [] } as unknown as Ranking;
  generations.current = { ...generations.current, ranking };
  fits.start();
  await vi.waitFor(() => expect(missingFrom).toHaveBeenCalledOnce(), 600_000);
  expect(generations.current.ranking).toBe(ranking);
  expect(fits.served).toBe(indexed);
  expect(use.mock.calls).toEqual([[restored], [indexed]]);
  expect(knowItems).toHaveBeenCalledOnce();
  await fits.stop();
});

it('a fit that finds nothing new compares users where they are asked for since', async () => {
  const generation = { number: 3, ranking: undefined, parts: {} };
  const indexed = { ...generation };
  const done = vi.fn();
  const missingFrom = vi.fn(async () => undefined);
  const fits = new FitSchedule({
    generationFit: {
      run: async () => ({ generation, positives: 5, unchanged: true }),
      indexServing: async () => indexed,
      stop() {},
    },
    listPass: { missingFrom, stop() {} },
    listsOnRequest: { use() {} },
    servingSlot: 0,
    queue: new SerialQueue(),
    recommendation: {
      generations: new GenerationSlot(),
      sinceFit: { serve() {} },
      live: {},
      lists: { passes: undefined },
      settings: { discovery: 0 },
    },
    log: createLogger('silent'),
    tasks: { begin: () => ({ done }) },
    cluster: undefined,
    makesLists: () => true,
  } as unknown as FitScheduleParts);
  expect((await fits.run())?.generation).toBe(indexed);
  expect(fits.served).toBe(indexed);
  expect(missingFrom).toHaveBeenCalledOnce();
  expect(done).toHaveBeenCalledOnce();
  await fits.stop();
});

it('a fit that is asked for right after a start does not wait for the calm that requests are given', async () => {
  const generation = { number: 3, ranking: undefined, parts: {} };
  const calms: Promise<unknown>[] = [];
  const knowItems = async (_: number, calm: Promise<unknown>) => {
    calms.push(calm);
    await calm;
  };
  const fits = new FitSchedule({
    generationFit: {
      restore: async () => generation,
      run: async () => ({ generation, positives: 5, unchanged: true }),
      indexServing: async () => undefined,
      stop() {},
    },
    listPass: { missingFrom: async () => undefined, stop() {} },
    listsOnRequest: { use() {} },
    servingSlot: 0,
    queue: new SerialQueue(),
    recommendation: {
      generations: new GenerationSlot(),
      sinceFit: { serve() {} },
      live: { knowItems },
      lists: { passes: undefined },
      settings: { discovery: 0 },
    },
    log: createLogger('silent'),
    tasks: { begin: () => ({ done() {} }) },
    cluster: undefined,
    makesLists: () => true,
  } as unknown as FitScheduleParts);
  await fits.restore(Promise.resolve(undefined));
  let isOver = false;
  calms[0]!.then(() => {
    isOver = true;
  });
  const turns = async () => {
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const fit = fits.run();
  await turns();
  expect(isOver).toBe(true);
  await fit;
  await fits.stop();
});

it('lays out users that are asked for after what trains already, once', async () => {
  const generation = { number: 3, ranking: undefined, parts: {} };
  const indexed = { ...generation };
  const generations = new GenerationSlot();
  const order: string[] = [];
  let mayEnd = () => {};
  const trains = new Promise<void>((resolve) => {
    mayEnd = resolve;
  });
  let isAsked = false;
  const fits = new FitSchedule({
    generationFit: {
      async run() {
        order.push('a fit begins');
        await trains;
        order.push('a fit ends');
        return { generation, positives: 5, unchanged: false };
      },
      askUsers: () => !isAsked && (isAsked = true),
      similarUsers: async () => undefined,
      async indexServing() {
        order.push('users are laid out');
        return indexed;
      },
      stop() {},
    },
    listPass: { missingFrom: async () => undefined, stop() {} },
    listsOnRequest: { use() {} },
    servingSlot: 0,
    queue: new SerialQueue(),
    recommendation: {
      generations,
      sinceFit: { serve() {} },
      live: { knowItems: async () => {}, popularity: { recent: { order: () => [].values() } } },
      lists: { passes: undefined },
      settings: { discovery: 0 },
    },
    log: createLogger('silent'),
    tasks: { begin: () => ({ done() {} }) },
    cluster: undefined,
    makesLists: () => false,
  } as unknown as FitScheduleParts);
  const fit = fits.run();
  const asked = { userRow: 1, likedRows: undefined };
  const ask = () => generations.similarUsers!(asked, 10);
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([undefined, undefined, undefined]);
  mayEnd();
  await fit;
  await vi.waitFor(() => expect(fits.served).toBe(indexed), 600_000);
  expect(order).toEqual(['a fit begins', 'a fit ends', 'users are laid out']);
  await fits.stop();
});

it.each([
  [5, 1],
  [0, 0],
])(
  'a start over %i positive records and no model fits %i times, without a period gone by',
  async (positives, runs) => {
    const run = vi.fn(async () => undefined);
    const facts = vi.fn(async () => ({
      ...{
        positiveTypes: ['like'],
        types: [],
        items: 1,
        feedback: 5,
        isCounted: true,
        countError: undefined,
      },
      positives,
    }));
    const fits = new FitSchedule({
      generationFit: { run, stop() {}, isCancelled: false },
      listPass: { stop() {} },
      queue: new SerialQueue(),
      recommendation: {
        generations: new GenerationSlot(),
        live: { settled: Promise.resolve() },
      },
      ...{ periodMs: 1e9, firstPeriodMs: 1e9, settleMs: 1 },
      log: createLogger('silent'),
      tasks: { begin: () => ({ done() {} }) },
      cluster: undefined,
      facts,
    } as unknown as FitScheduleParts);
    fits.start();
    await vi.waitFor(() => expect(facts).toHaveBeenCalled(), 600_000);
    if (runs > 0) await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(runs), 600_000);
    await fits.stop();
    expect(run).toHaveBeenCalledTimes(runs);
  },
);
