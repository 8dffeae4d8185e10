import { expect, test } from 'vitest';
import { WorkerPool } from '../../src/background/pool/worker-pool.ts';
import { TrainingDataLoader } from '../../src/background/training/training-data-loader.ts';
import { positiveKindNames, positiveWeights } from '../../src/domain/positive-feedback-types.ts';
import { createLogger } from '../../src/platform/log/log.ts';
import type { CancelFlag } from '../../src/threads/cancellation.ts';
import { gather } from '../../src/threads/gather-training-data.ts';
import { feedback, NOW_MS, openIn, putFeedback, storeOptions, tempFolder } from '../store/helpers.ts';

const TYPES = ['like', 'rating>=4=2', 'purchase=5'];

/** What is gathered of a folder, by user. */
function gathered(
  folder: string,
  types: readonly string[],
  more: { readonly halfLifeMs?: number; readonly cancelled?: CancelFlag } = {},
) {
  const data = gather({
    kind: 'gather',
    dataPath: storeOptions(folder).dataPath,
    positiveTypes: positiveKindNames(types),
    positiveWeights: positiveWeights(types),
    sinceMs: 0,
    untilMs: NOW_MS,
    seed: 1,
    leavesOut: false,
    heldBytes: 0,
    budgetBytes: 1e9,
    cancelled: new Int32Array(new SharedArrayBuffer(4)),
    ...more,
  })!;
  return data.interactions.byUser;
}

/** What is gathered of three users' feedback, as (user, item, weight). */
async function gatherPairs(types: readonly string[]) {
  const folder = tempFolder();
  const { data } = openIn(folder, { positiveFeedbackTypes: types });
  await data.write(
    putFeedback([
      feedback('like', 'u', 'a'),
      feedback('purchase', 'u', 'a'),
      feedback('like', 'u', 'b'),
      feedback('rating', 'v', 'a', { Value: 5 }),
      feedback('rating', 'v', 'b', { Value: 3 }),
      feedback('seen', 'w', 'b'),
    ]),
  );
  const { indptr, indices, weights } = gathered(folder, types);
  const local = data.local!;
  const pairs: [string, string, number | undefined][] = [];
  for (let user = 0; user + 1 < indptr.length; user++) {
    for (let at = indptr[user]!; at < indptr[user + 1]!; at++) {
      pairs.push([local.userIdAt(user)!, local.itemIdAt(indices[at]!)!, weights?.[at]]);
    }
  }
  return pairs;
}

test('a record weighs what its type does, by its value too, and of a pair the heaviest counts', async () => {
  expect(await gatherPairs(TYPES)).toEqual([
    ['u', 'a', 5],
    ['u', 'b', 1],
    ['v', 'a', 2],
  ]);
});

test('nothing more is read once nobody waits for it', async () => {
  const folder = tempFolder();
  const { data } = openIn(folder, { positiveFeedbackTypes: ['like'] });
  await data.write(putFeedback([feedback('like', 'u', 'a')]));
  const cancelled = new Int32Array(new SharedArrayBuffer(4));
  expect(gathered(folder, ['like'], { cancelled }).rowCount).toBe(1);
  cancelled[0] = 1;
  expect(() => gathered(folder, ['like'], { cancelled })).toThrow(/nobody waits/);
});

test('without weights nothing is weighed', async () => {
  expect(await gatherPairs(['like', 'rating>=4', 'purchase'])).toEqual([
    ['u', 'a', undefined],
    ['u', 'b', undefined],
    ['v', 'a', undefined],
  ]);
});

test('with a half-life a record weighs half for each that it is older than the newest, and of a pair the heaviest counts', async () => {
  const folder = tempFolder();
  const types = ['like', 'purchase=4'];
  const { data } = openIn(folder, { positiveFeedbackTypes: types });
  const ago = (days: number) => ({ Timestamp: new Date(NOW_MS - days * 86_400_000).toISOString() });
  await data.write(
    putFeedback([
      feedback('like', 'u', 'a', ago(3)),
      feedback('like', 'u', 'b', ago(13)),
      feedback('like', 'v', 'a', ago(23)),
      feedback('purchase', 'v', 'a', ago(33)),
      feedback('like', 'v', 'b', ago(3003)),
    ]),
  );
  const { weights } = gathered(folder, types, { halfLifeMs: 10 * 86_400_000 });
  expect([...weights!]).toEqual([1, 0.5, 0.5, Math.fround(1e-3)]);
});

test('what happened several times weighs more by the logarithm of how often, with the time of the latest', async () => {
  const folder = tempFolder();
  const { data } = openIn(folder, {
    positiveFeedbackTypes: ['like', 'buy>0'],
    repeatedTypes: ['buy', 'like'],
  });
  const on = (type: string, item: string, ...days: number[]) =>
    days.map((day) =>
      feedback(type, 'u', item, { Timestamp: new Date(Date.UTC(2020, 0, day)).toISOString(), Value: 1 }),
    );
  await data.write(
    putFeedback([
      ...on('buy', 'a', 1, 2, 3, 4),
      ...on('like', 'b', 1),
      ...on('seen', 'b', 9),
      ...on('buy', 'c', 3, 13),
      ...on('like', 'c', 1, 2, 3),
    ]),
  );
  const types = ['like', 'buy>0'];
  const once = 1 + Math.log(2);
  expect([...gathered(folder, types).weights!]).toEqual(
    [1 + Math.log(4), 1, 1 + Math.log(3)].map((weight) => Math.fround(weight)),
  );
  // Beside the latest of all, of the 13th.
  expect([...gathered(folder, types, { halfLifeMs: 9 * 86_400_000 }).weights!]).toEqual(
    [(1 + Math.log(4)) / 2, 2 ** (-12 / 9), once].map((weight) => Math.fround(weight)),
  );
});

test('where all would take more than a fit may, a sample of the users is learned from, and the log says so', async () => {
  const folder = tempFolder();
  const { data } = openIn(folder);
  const records = Array.from({ length: 2000 }, (_, at) => feedback('like', `u${at % 500}`, `i${at % 7}`));
  await data.write(putFeedback(records));
  const lines: string[] = [];
  const pool = new WorkerPool(1);
  try {
    const options = {
      dataPath: storeOptions(folder).dataPath,
      positiveTypes: ['like'],
      positiveTtlMs: Number.POSITIVE_INFINITY,
      clockErrorMs: 0,
      seed: 1,
      memoryBytesMax: 100_000,
      clock: () => NOW_MS,
      log: createLogger('info', { write: (line: string) => void lines.push(line) }),
    };
    const footprint = { user: 300, item: 800, pair: 8, base: 10_000 };
    const all = (await new TrainingDataLoader(pool, { ...options, memoryBytesMax: 1e9, footprint }).load(
      false,
    ))!;
    expect(all.userShare).toBe(1);
    expect(all.interactions.userCount).toBe(500);
    expect(lines).toEqual([]);
    const some = (await new TrainingDataLoader(pool, { ...options, footprint }).load(false))!;
    const taken = some.interactions.userCount * 300 + some.interactions.count * 8 + 7 * 800 + 10_000;
    expect(some.interactions.userCount).toBeGreaterThan(150);
    expect(taken).toBeLessThan(120_000);
    expect(some.positives).toBe(all.positives);
    // Whether a model serves meanwhile makes no difference, as long as it is no larger than what is kept for it.
    const serving = [new Uint8Array(new SharedArrayBuffer(20_000))];
    const next = (await new TrainingDataLoader(pool, { ...options, footprint }).load(false, serving))!;
    expect(next.interactions).toEqual(some.interactions);
    expect(lines.join()).toMatch(/models are learned from \d+ users, \d+\.\d % of them/);
  } finally {
    await pool.close();
  }
});
