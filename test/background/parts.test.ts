import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cacheShelf } from '../../src/background/generation/generation-storage.ts';
import { WorkerPool } from '../../src/background/pool/worker-pool.ts';
import { PartTrainer } from '../../src/background/training/part-trainer.ts';
import { TrainingDataLoader } from '../../src/background/training/training-data-loader.ts';
import type { TrainingData } from '../../src/dataset/training-data.ts';
import { memoriesOf, sharedBytesOf } from '../../src/memory/find-shared-buffers.ts';
import { alsSettings } from '../../src/model/als/settings.ts';
import { checkGiven } from '../../src/model/given/check-given.ts';
import type { FitSettings } from '../../src/model/part/learned-part.ts';
import { PART_NAMES, type PartName, type PartOptions, partOf } from '../../src/model/registry.ts';
import { createLogger } from '../../src/platform/log/log.ts';
import type { CacheStore } from '../../src/store/cache-store.ts';
import { openStore, type Stores } from '../../src/store/open/open-store.ts';
import { storeOptions } from '../store/helpers.ts';
import { SETTINGS } from './fit-bench.ts';
import { storeLikes } from './likes.ts';

/** The same for any number of threads, so that what is placed can be compared. */
const SERVING = { slots: 2, listLengthMax: 100 };
const FIT_SETTINGS: FitSettings = {
  seed: 3,
  neighborType: 'related',
  userNeighborType: 'related',
  enableIndex: false,
  indexRecall: 0.8,
  given: checkGiven(
    {
      items: {
        ids: Array.from({ length: 60 }, (_, item) => `i${item}`),
        vectors: Array.from({ length: 60 }, (_, item) => [1, item % 3, 0.1 * item]),
      },
      users: {
        ids: ['u7', 'u9'],
        vectors: [
          [1, 2, 3],
          [3, 2, 1],
        ],
      },
    },
    { fold: 'least-squares' },
    { item: () => true, user: () => true },
  ).model,
};
/** What every learned part must hold to. A part that is added to the registry is tested here by itself. */
function optionsOf<Name extends PartName>(name: Name): PartOptions<Name> {
  const options = partOf(name).training?.options(FIT_SETTINGS, SERVING);
  return (options ?? { settings: alsSettings(SETTINGS) }) as PartOptions<Name>;
}
const FINGERPRINT = 42;
const THREADS = [1, 2, 4] as const;

const pools = new Map<number, WorkerPool>(THREADS.map((threads) => [threads, new WorkerPool(threads)]));
let folder: string;
let stores: Stores;
let data: TrainingData;
let cache: CacheStore;
let trainerOf: (threads: number) => PartTrainer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'furze-parts-'));
  stores = openStore(storeOptions(folder));
  await storeLikes(stores, 300);
  const { dataPath, cachePath } = storeOptions(folder);
  cache = stores.cache;
  const log = createLogger('silent', { write: () => {} });
  const memoryBytesMax = 2 ** 30;
  trainerOf = (threads) => {
    const types = { positiveTypes: ['like'], readTypes: [] };
    const options = {
      dataPath,
      shelf: cacheShelf(cachePath, cache),
      ...types,
      serving: SERVING,
      memoryBytesMax,
      log,
    };
    return new PartTrainer(pools.get(threads)!, options);
  };
  const loader = new TrainingDataLoader(pools.get(1)!, {
    dataPath,
    positiveTypes: ['like'],
    positiveTtlMs: Number.POSITIVE_INFINITY,
    clockErrorMs: 0,
    seed: 1,
    memoryBytesMax,
    clock: () => Date.parse('2024-06-01T00:00:00Z'),
  });
  data = (await loader.load(true))!;
});
afterAll(async () => {
  for (const pool of pools.values()) await pool.close();
  await stores.data.close();
  await stores.cache.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A hash of everything that was placed. */
function bitsOf(placed: unknown): string {
  const hash = createHash('sha256').update(JSON.stringify(sharedBytesOf(placed)));
  for (const { buffer } of memoriesOf(placed)) hash.update(new Uint8Array(buffer));
  return hash.digest('hex');
}

async function trained<Name extends PartName>(name: Name, threads: number) {
  const trainer = trainerOf(threads);
  const { signal } = new AbortController();
  const run = (await trainer.train(name, data, optionsOf(name), { signal }))!;
  const taken = sharedBytesOf(run.task);
  const saveAs = partOf(name).saving === undefined ? undefined : `${name} by ${threads}`;
  const placed = await trainer.finish(name, run, FINGERPRINT, saveAs);
  cache.local?.refresh();
  return { placed, taken, bytes: saveAs === undefined ? undefined : await cache.getBlob(saveAs) };
}

describe.each(PART_NAMES)('the part %s', (name) => {
  it('has the same bits whatever the number of threads', async () => {
    const one = await trained(name, 1);
    for (const threads of THREADS.slice(1)) {
      const other = await trained(name, threads);
      expect(other.bytes).toEqual(one.bytes);
      expect(bitsOf(other.placed)).toBe(bitsOf(one.placed));
    }
  });

  const planned = (slots: number, sampleBytes: number, options: object = optionsOf(name)) => {
    const reads = {
      userCount: data.interactions.userCount,
      itemCount: data.interactions.itemCount,
      itemRow: () => -1,
      userRow: () => -1,
      itemLabels: () => () => [],
      userLabels: () => () => [],
      readPairs: () => ({ userRows: [], itemRows: [] }),
      readTimes: () => {},
    };
    return partOf(name).memory(data, options, slots, SERVING, reads, { bytes: 2 ** 30, sampleBytes });
  };

  it('learns from the same users whatever the number of threads, where there is little room', () => {
    const { training, models } = planned(32, 2 ** 30);
    for (const share of [0.5, 0.9, 0.99]) {
      const leftOut = planned(1, share * (training + models)).leftOut;
      for (const slots of [2, 8]) expect(planned(slots, share * (training + models)).leftOut).toBe(leftOut);
    }
  });

  it('takes no more memory than it said', async () => {
    const { placed, taken } = await trained(name, 2);
    const { training, models } = planned(2, 2 ** 30);
    const page = 65_536 * (1 + memoriesOf(placed).length);
    // The data that a task refers to is not its own.
    expect(taken - (name === 'click' ? sharedBytesOf(data) : 0)).toBeLessThanOrEqual(
      training + models + page,
    );
    expect(sharedBytesOf(placed)).toBeLessThanOrEqual(models + page);
  });

  it('counts the judged model where it goes on from that, which is decoded beside it', () => {
    const judged = { ...optionsOf(name), judged: new Uint8Array(1000) };
    const [alone, on] = [planned(2, 2 ** 30), planned(2, 2 ** 30, judged)];
    expect(on.training - alone.training).toBe(name === 'click' ? 1000 : 0);
  });

  it('ends when it is cancelled, and nothing of it runs on', async () => {
    const cancelled = new AbortController();
    const run = trainerOf(2).train(name, data, optionsOf(name), {
      signal: cancelled.signal,
      tell: () => cancelled.abort(),
    });
    cancelled.abort();
    expect(await run).toBeUndefined();
  });

  it('comes back from its bytes as it was, and not from damaged ones', async () => {
    const { saving } = partOf(name);
    if (saving === undefined) return;
    const { bytes, placed } = await trained(name, 1);
    expect(saving.encode(saving.decode(bytes!))).toEqual(bytes);
    const loaded = await trainerOf(1).load(name, `${name} by 1`);
    expect(bitsOf(loaded)).toBe(bitsOf(placed));
    for (const at of [0, 4, 12, bytes!.length - 1]) {
      const damaged = Uint8Array.from(bytes!);
      damaged[at]! ^= 0x40;
      expect(() => saving.decode(damaged)).toThrow(/not a usable/);
    }
    expect(() => saving.decode(bytes!.subarray(0, bytes!.length - 4))).toThrow(/not a usable/);
    expect(await trainerOf(1).load(name, 'nothing')).toBeUndefined();
  });
});
