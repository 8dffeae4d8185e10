import { afterAll, expect, it } from 'vitest';
import { WorkerPool } from '../../src/background/pool/worker-pool.ts';
import type { TrainingData } from '../../src/dataset/training-data.ts';
import { alsSettings } from '../../src/model/als/settings.ts';
import { type PartName, type PartOptions, partOf } from '../../src/model/registry.ts';
import { withTrainingReads } from '../../src/threads/training-reads.ts';
import { feedback, openIn, putFeedback, storeOptions, tempFolder } from '../store/helpers.ts';
import { fitBenchIn, SETTINGS } from './fit-bench.ts';
import { storeLikes } from './likes.ts';

const VISITORS = 3000;
/** Parts whose bytes are the same for the same matrix. */
const SAVED = ['als', 'slim', 'itemKnn', 'sequence'] as const;
const OPTIONS: { readonly [Name in PartName]?: PartOptions<Name> } = {
  als: { settings: alsSettings(SETTINGS) },
  click: { seed: 3 },
  slim: {},
  itemNeighbors: { policy: 'auto', enableIndex: false, indexRecall: 0.8, seed: 3 },
  userNeighbors: { policy: 'auto', k: 20, slots: 2 },
};
const SERVING = { slots: 2, listLengthMax: 100 };

const pool = new WorkerPool(1);
afterAll(() => pool.close());

/** What is learned by users with likes, and what a training of each part would take. */
async function learned(haveVisitors: boolean) {
  const folder = tempFolder();
  const stores = openIn(folder);
  // Items get their rows before anybody comes.
  await stores.data.write(
    putFeedback([...Array(60).keys()].map((item) => feedback('like', 'u0', `i${item}`))),
  );
  if (haveVisitors) {
    const ids = [...Array(VISITORS).keys()].map((at) => `visitor${at}`);
    await stores.data.write(putFeedback(ids.map((id, at) => feedback('like', id, `i${at % 60}`))));
    await Promise.all(ids.map((userId) => stores.data.write({ kind: 'deleteUser', userId })));
  }
  await storeLikes(stores, 300);
  const { trainer, loader } = fitBenchIn(folder, stores, pool).start();
  const data = (await loader.load(true))!;
  const { signal } = new AbortController();
  for (const name of SAVED) {
    const run = (await trainer.train(name, data, (OPTIONS[name] ?? {}) as never, { signal }))!;
    await trainer.finish(name, run as never, 1, name);
  }
  stores.cache.local?.refresh();
  return {
    data,
    rowCount: data.userRowCount,
    bytes: await Promise.all(SAVED.map((name) => stores.cache.getBlob(name))),
    planned: planned(storeOptions(folder).dataPath, data),
  };
}

function planned(dataPath: string, data: TrainingData) {
  return withTrainingReads({ dataPath, positiveTypes: ['like'], readTypes: [] }, (reads) =>
    Object.entries(OPTIONS).map(([name, options]) =>
      partOf(name as PartName).memory(data, options, 2, SERVING, reads, {
        bytes: 2 ** 30,
        sampleBytes: 2 ** 30,
      }),
    ),
  );
}

it('users who came and went leave no trace in models, nor in the memory of a fit', async () => {
  const without = await learned(false);
  const after = await learned(true);
  expect(after.rowCount).toBe(without.rowCount + VISITORS);
  expect(after.data.interactions).toEqual(without.data.interactions);
  expect(after.data.heldOut).toEqual(without.data.heldOut);
  expect(after.planned).toEqual(without.planned);
  expect(without.bytes.every((bytes) => bytes !== undefined)).toBe(true);
  expect(after.bytes).toEqual(without.bytes);
});
