import { describe, expect, it } from 'vitest';
import { type Interactions, rowIndices } from '../../../src/dataset/interactions.ts';
import type { TrainingData } from '../../../src/dataset/training-data.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { beginPhase } from '../../../src/model/part/chunks-for-threads.ts';
import {
  leftOutOf,
  type MatrixShape,
  planSample,
  sampleData,
  sampledShape,
  sampleUsers,
  shareWithin,
} from '../../../src/model/part/sample-users-to-fit-memory.ts';
import { placeSlim } from '../../../src/model/slim/memory-layout.ts';
import { slimSettings } from '../../../src/model/slim/settings.ts';
import { SLIM_PHASES, SlimSolver } from '../../../src/model/slim/slim-solver.ts';
import { slimTable, solvedItems } from '../../../src/model/slim/train-and-serve.ts';
import { tastes } from '../tastes.ts';

const { train } = tastes(2600, 60);
const bytesOf = ({ count }: { readonly count: number }) => ({
  piece: count * 8,
  training: count * 12,
  models: count * 8,
});

/** The likes of users and items that stand in the store at other rows. */
function dataOf(interactions: Interactions): TrainingData {
  const rows = {
    users: Uint32Array.from({ length: interactions.userCount }, (_, at) => 3 * at),
    items: new Uint32Array(0),
  };
  const none = { userRows: new Uint32Array(0), itemRows: new Uint32Array(0) };
  return {
    interactions,
    rows,
    userRowCount: 3 * interactions.userCount,
    itemRowCount: interactions.itemCount,
    heldOut: none,
    heldOutSinceMs: Number.POSITIVE_INFINITY,
    fingerprint: 1,
    positives: interactions.count,
    userShare: 1,
  };
}

describe('a sample of the users', () => {
  it('is all of them where they fit', () => {
    expect(shareWithin(train, { bytesOf, roomBytes: train.count * 20 })).toBe(1);
    expect(sampleUsers(train, 1)).toBe(train);
    expect(leftOutOf(1)).toBeUndefined();
  });

  it('fits in the room that there is, and is whole users', () => {
    const roomBytes = train.count * 8;
    const share = shareWithin(train, { bytesOf, roomBytes });
    const sample = sampleUsers(train, share);
    expect(share).toBeGreaterThan(0.3);
    expect(share).toBeLessThan(0.4);
    const { training, models } = bytesOf(sampledShape(train, share));
    expect(training + models).toBeLessThanOrEqual(roomBytes * 1.01);
    expect(sample.count / train.count).toBeCloseTo(share, 1);
    expect(sample.itemCount).toBe(train.itemCount);
    expect(sample.byItem.indices.length).toBe(sample.count);
    expect(Math.max(...sample.byItem.indices)).toBe(sample.userCount - 1);
    expect(leftOutOf(share)).toMatch(/3\d\.\d % of the users/);
  });

  it('is told by rows of the store, too', () => {
    const all = dataOf(train);
    const some = sampleData(all, 0.4);
    expect(some.rows.users).toHaveLength(some.interactions.userCount);
    some.rows.users.forEach((storeRow, row) => {
      expect(rowIndices(some.interactions.byUser, row)).toEqual(rowIndices(train.byUser, storeRow / 3));
    });
    expect(sampleData(all, 1)).toBe(all);
  });

  it('is no smaller for what the threads that ask take besides, which counts all the same', () => {
    const room = { bytes: 1e12, sampleBytes: train.count * 20 };
    const bytesAt = (slots: number) => (shape: MatrixShape) => ({ ...bytesOf(shape), scratch: slots * 1e9 });
    const { share, memory } = planSample(dataOf(train), 3, room, bytesAt);
    expect([share, memory.models]).toEqual([1, train.count * 8 + 3e9]);
  });

  it('is so small that comparing takes no more than it may', () => {
    const additionsOf = (starts: Uint32Array) =>
      starts.reduce((sum, start, at) => (at === 0 ? 0 : sum + (start - starts[at - 1]!) ** 2), 0);
    const additionsMax = additionsOf(train.byUser.indptr) / 4;
    const share = shareWithin(train, { bytesOf, roomBytes: 1e12, additionsMax });
    const sample = sampleUsers(train, share);
    expect(additionsOf(sample.byUser.indptr)).toBeLessThan(additionsMax * 1.15);
    expect(additionsOf(sample.byUser.indptr)).toBeGreaterThan(additionsMax * 0.7);
  });
});

it('SLIM learns for so many items as their neighbors let it in the time it may take', () => {
  const settings = slimSettings({ neighborhood: 10 });
  const usersOf = (item: number) => train.byItem.indptr[item + 1]! - train.byItem.indptr[item]!;
  const users = Array.from({ length: train.itemCount }, (_, item) => usersOf(item)).sort((a, b) => b - a);
  const rare = users.slice(8).reduce((sum, count) => sum + count, 0) / (users.length - 8);
  let squares = 0;
  for (let user = 0; user < train.userCount; user++)
    squares += (train.byUser.indptr[user + 1]! - train.byUser.indptr[user]!) ** 2;
  const likesRead = (10 * rare * squares) / train.count;
  expect(solvedItems(train, settings, 1, 15.5 * likesRead, 8)).toBe(15);
  expect(solvedItems(train, settings, 0.5, 8.2 * likesRead, 8)).toBe(16);
  expect(solvedItems(train, settings, 1, likesRead, 8)).toBe(8);
  expect(solvedItems(train, settings, 1, 1, train.itemCount)).toBe(train.itemCount);
  expect(solvedItems(train, settings, 1)).toBe(train.itemCount);
});

it('SLIM learns for the most popular items alone where there are too many, the lower rows of equals', () => {
  const users = (item: number) => train.byItem.indptr[item + 1]! - train.byItem.indptr[item]!;
  const order = Array.from({ length: train.itemCount }, (_, item) => item).sort(
    (a, b) => users(b) - users(a) || a - b,
  );
  const most = order.findIndex((item, at) => at > 15 && users(item) === users(order[at - 1]!));
  const task = placeSlim(train, slimSettings({ neighborhood: 10 }), 1, undefined, undefined, most);
  const solver = new SlimSolver(task, (memory) => loadKernels(memory), 0);
  for (const phase of SLIM_PHASES) {
    beginPhase(task);
    solver.runPhase(phase);
  }
  const targets = new Set(slimTable(task, 0).rows);
  expect(targets).toContain(order[most - 1]);
  expect(targets).not.toContain(order[most]);
  for (const target of targets) expect(order.indexOf(target)).toBeLessThan(most);
});
