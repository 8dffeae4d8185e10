import { expect, it, vi } from 'vitest';
import { ExplorationPools } from '../../../src/recommend/placements/exploration-pools.ts';
import type { ShownLog, ShownRecord } from '../../../src/store/shown-log.ts';

function record(itemRows: number[], feedbackType?: string, placement = 'home'): ShownRecord {
  const list = { placement, variant: '', generation: 1, timeMs: 1 };
  return {
    userId: 'u',
    timeMs: 2,
    list,
    itemRows,
    places: [],
    ...(feedbackType !== undefined && { feedbackType }),
  };
}

const times = (count: number, of: () => ShownRecord) => Array.from({ length: count }, of);

function poolsOver(records: ShownRecord[], rowCount: number) {
  let nowMs = 0;
  const log = {
    async *walk() {
      yield [{ userId: 'u', records }];
    },
  } as unknown as ShownLog;
  const pools = new ExplorationPools({
    log,
    clock: () => nowMs,
    rowCount: () => rowCount,
    readTypes: new Set(['read']),
  });
  return { pools, pass: (ms: number) => (nowMs += ms) };
}

it('has what was shown little and passes, with shares that sum up to 1', async () => {
  const { pools } = poolsOver(
    times(100, () => record([0, 1])),
    10,
  );
  const pool = await pools.of('home', (row) => row !== 5);
  expect(pool.map(({ row }) => row).sort()).toEqual([2, 3, 4, 6, 7, 8, 9]);
  expect(pool.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 9);
  expect(await pools.of('nothing', () => false)).toEqual([]);
});

it('is of bounded size, half of it the newest', async () => {
  const pool = await poolsOver([], 10_000).pools.of('home', () => true);
  expect(pool).toHaveLength(64);
  expect(pool.filter(({ row }) => row >= 10_000 - 32)).toHaveLength(32);
});

it('tries more often what is clicked on, and leaves none without a chance', async () => {
  const { pools, pass } = poolsOver([record([0, 1, 2, 3])], 4);
  await pools.of('home', () => true);
  pools.note(times(60, () => record([0, 1, 2, 3])));
  pools.note(times(15, () => record([1], 'like')));
  pools.note(times(40, () => record([2], 'read')));
  pools.note(times(40, () => record([3], 'like', 'elsewhere')));
  pass(60_001);
  const shares = await vi.waitFor(async () => {
    const now = new Map((await pools.of('home', () => true)).map(({ row, share }) => [row, share]));
    expect(now.get(1)).toBeGreaterThan(0.7);
    return now;
  }, 300_000);
  for (const row of [0, 2, 3]) expect(shares.get(row)).toBeGreaterThanOrEqual(0.05);
});

it('lets go of an item of which enough is known', async () => {
  const { pools, pass } = poolsOver([], 3);
  await pools.of('home', () => true);
  pools.note(times(100, () => record([1])));
  pass(60_001);
  await vi.waitFor(async () => {
    const rows = (await pools.of('home', () => true)).map(({ row }) => row);
    expect(rows.sort()).toEqual([0, 2]);
  }, 300_000);
});
