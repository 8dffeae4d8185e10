import { expect, test } from 'vitest';
import { rankingBytes } from '../../src/background/training/lists-and-ranking-memory-estimate.ts';
import type { ListPlan } from '../../src/threads/messages.ts';

test('learning to rank counts the likes that later moments are judged by, a million at most', () => {
  const plan = { timesMs: new Float64Array(10), settings: { cacheSize: 100 } } as unknown as ListPlan;
  const bytes = (count: number) =>
    rankingBytes(plan, { interactions: { count } } as Parameters<typeof rankingBytes>[1]);
  // Rows, type and time of each, once at the least.
  expect(bytes(1000) - bytes(0)).toBeGreaterThanOrEqual(1000 * (4 + 4 + 2 + 8));
  expect(bytes(5_000_000)).toBe(bytes(1_000_000));
});
