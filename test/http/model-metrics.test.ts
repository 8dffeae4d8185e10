import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { registerModel } from '../../src/http/metrics/model-metrics.ts';

it('the metrics tell every way to rank that was judged, and which one ranks', async () => {
  const registry = new Registry();
  const way = (Name: string, Mean: number) => ({ Name, Quality: { Mean, HalfWidth: 0.01 } });
  const choice = (Chosen: string) => ({
    Users: 900,
    AsOf: '2026-01-01T00:00:00Z',
    Chosen,
    OverBestSingle: { Mean: 0.02, HalfWidth: 0.01 },
    Ways: [way('blend of 2', 0.25), way('popular, half-life 2 d', 0.2)],
  });
  const model = { Generation: 3, Quality: {}, Users: 9, Items: 9, Factors: 8, Bytes: 1 };
  let Choice: ReturnType<typeof choice> | undefined = choice('blend of 2');
  registerModel(registry, () => ({
    lastFit: undefined,
    model: { ...model, ...(Choice !== undefined && { Choice }) },
    feedbackTypes: [],
    staleLists: 0,
  }));
  const told = async () =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('furze_ranking_quality'));
  expect(await told()).toEqual([
    'furze_ranking_quality{way="blend of 2",chosen="true"} 0.25',
    'furze_ranking_quality{way="popular, half-life 2 d",chosen="false"} 0.2',
  ]);
  Choice = undefined;
  expect(await told()).toEqual([]);
});
