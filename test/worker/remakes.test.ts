import { expect, it } from 'vitest';
import { Remakes } from '../../src/worker/lists/remakes.ts';
import type { ListPlan, ListsJob, PlacedGeneration } from '../../src/worker/messages.ts';
import type { WorkerPool } from '../../src/worker/pool/pool.ts';

it('lists are made with the generation that is served, also when it changes while they are planned', async () => {
  const jobs: ListsJob[] = [];
  const pool = {
    remakeSlot: 0,
    async run(job: ListsJob) {
      jobs.push(job);
      return { lists: [], forsaken: [] };
    },
  };
  const planned: { number: number; done: () => void }[] = [];
  const planOf = (generation: PlacedGeneration) =>
    new Promise<ListPlan>((resolve) => {
      planned.push({ number: generation.number, done: () => resolve({ generation } as ListPlan) });
    });
  let nowMs = 0;
  const remakes = new Remakes(pool as unknown as WorkerPool, planOf, () => nowMs, 0);
  remakes.use({ number: 1, ranking: undefined });
  const made = remakes.make([7]);
  remakes.use({ number: 2, ranking: undefined });
  planned[0]!.done();
  await Promise.resolve();
  await Promise.resolve();
  planned[1]!.done();
  await made;
  expect(jobs.map(({ plan }) => plan.generation.number)).toEqual([2]);

  // A plan is used again for some seconds.
  await remakes.make([8]);
  expect(planned.map(({ number }) => number)).toEqual([1, 2]);
  nowMs += 60_000;
  const later = remakes.make([9]);
  planned[2]!.done();
  await later;
  expect(jobs).toHaveLength(3);
});
