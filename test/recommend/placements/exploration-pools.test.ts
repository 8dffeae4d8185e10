import { expect, it, vi } from 'vitest';
import { ExplorationPools } from '../../../src/recommend/placements/exploration-pools.ts';
import type { ShownRecord } from '../../../src/store/shown-log.ts';
import { learnOf } from './learn-of.ts';

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

const any = () => true;

function poolsOver(records: ShownRecord[], rowCount: number, explored = ['home', 'nothing']) {
  let nowMs = 0;
  const troubles: string[] = [];
  const pools = new ExplorationPools({
    explored: () => explored,
    clock: () => nowMs,
    rowCount: () => rowCount,
    readTypes: new Set(['read']),
    onTrouble: (message, error) => troubles.push(`${message}: ${(error as Error).message}`),
  });
  const learn = () => learnOf(pools, [{ userId: 'u', records }]);
  /** The pool once it is made anew. */
  const made = async (placement: string, accept: (row: number) => boolean = any) => {
    nowMs += 60_001;
    const before = pools.of(placement, accept);
    return vi.waitFor(() => {
      const pool = pools.of(placement, accept);
      expect(pool).toBeDefined();
      expect(pool).not.toBe(before);
      return pool!;
    }, 300_000);
  };
  return { pools, learn, made, troubles };
}

it('has what was shown little and passes, with shares that sum up to 1', async () => {
  const { learn, made } = poolsOver(
    times(100, () => record([0, 1])),
    10,
  );
  learn();
  const pool = await made('home', (row) => row !== 5);
  expect(pool.map(({ row }) => row).sort()).toEqual([2, 3, 4, 6, 7, 8, 9]);
  expect(pool.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 9);
  expect(await made('nothing', () => false)).toEqual([]);
});

it('is none before what was shown is counted, of a placement that does not explore, and of whoever only looks', async () => {
  const explored = ['home'];
  const { pools, learn, made } = poolsOver([], 10, explored);
  expect(pools.of('home', any)).toBeUndefined();
  expect(pools.knows('home')).toBe(false);
  learn();
  expect(pools.knows('home')).toBe(true);
  expect(pools.of('home', undefined)).toBeUndefined();
  expect(pools.of('other', any)).toBeUndefined();
  const pool = await made('home');
  expect(pools.of('home', undefined)).toBe(pool);
  // It explores no more.
  explored.pop();
  learn();
  expect(pools.of('home', any)).toBeUndefined();
});

it('counts what is stored while the log is walked', async () => {
  const { pools, made } = poolsOver([], 2);
  const lesson = pools.learn();
  pools.note(times(100, () => record([1])));
  lesson.end();
  expect((await made('home')).map(({ row }) => row)).toEqual([0]);
});

it('is of bounded size, half of it the newest', async () => {
  const { learn, made } = poolsOver([], 10_000);
  learn();
  const pool = await made('home');
  expect(pool).toHaveLength(64);
  expect(pool.filter(({ row }) => row >= 10_000 - 32)).toHaveLength(32);
});

it('tries more often what is clicked on, and leaves none without a chance', async () => {
  const { pools, learn, made } = poolsOver([record([0, 1, 2, 3])], 4);
  learn();
  await made('home');
  pools.note(times(60, () => record([0, 1, 2, 3])));
  pools.note(times(15, () => record([1], 'like')));
  pools.note(times(40, () => record([2], 'read')));
  pools.note(times(40, () => record([3], 'like', 'elsewhere')));
  const shares = new Map((await made('home')).map(({ row, share }) => [row, share]));
  expect(shares.get(1)).toBeGreaterThan(0.7);
  for (const row of [0, 2, 3]) expect(shares.get(row)).toBeGreaterThanOrEqual(0.05);
});

it('lets go of an item of which enough is known', async () => {
  const { pools, learn, made } = poolsOver([], 3);
  learn();
  await made('home');
  pools.note(times(100, () => record([1])));
  expect((await made('home')).map(({ row }) => row).sort()).toEqual([0, 2]);
});

it('keeps what it has where another cannot be made, says so, and tries again', async () => {
  const { pools, learn, made, troubles } = poolsOver([], 3);
  learn();
  const first = await made('home', (row) => row === 1);
  const fails = vi.fn(() => {
    throw new Error('no such row');
  });
  const changed = made('home', fails);
  await vi.waitFor(() => expect(fails.mock.calls.length).toBeGreaterThan(1), 300_000);
  expect(pools.of('home', any)).toBe(first);
  expect(troubles[0]).toMatch(/"home".*: no such row$/);
  expect((await made('home')).map(({ row }) => row).sort()).toEqual([0, 1, 2]);
  expect((await changed).length).toBe(3);
});
