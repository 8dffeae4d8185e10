import { expect, it, vi } from 'vitest';
import { ListsOnRequest } from '../../src/background/lists/lists-on-request.ts';
import type { WorkerPool } from '../../src/background/pool/worker-pool.ts';
import type { ListPlan, ListsJob, PlacedGeneration } from '../../src/threads/messages.ts';

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
  const listsOnRequest = new ListsOnRequest(pool as unknown as WorkerPool, planOf, () => nowMs, 0);
  listsOnRequest.use({ number: 1, ranking: undefined, parts: {} });
  const plan = async (at: number) => {
    await vi.waitFor(() => expect(planned).toHaveLength(at + 1), 600_000);
    return planned[at]!;
  };
  const made = listsOnRequest.make([7], true);
  const first = await plan(0);
  listsOnRequest.use({ number: 2, ranking: undefined, parts: {} });
  first.done();
  (await plan(1)).done();
  await made;
  expect(jobs.map(({ plan }) => plan.generation.number)).toEqual([2]);

  // A plan is used again for some seconds.
  await listsOnRequest.make([8], true);
  expect(planned.map(({ number }) => number)).toEqual([1, 2]);
  nowMs += 60_000;
  const later = listsOnRequest.make([9], true);
  (await plan(2)).done();
  await later;
  expect(jobs).toHaveLength(3);
});

it('a plan serves while the next one is made', async () => {
  const jobs: ListsJob[] = [];
  const pool = {
    remakeSlot: 0,
    async run(job: ListsJob) {
      jobs.push(job);
      return { lists: [], forsaken: [] };
    },
  };
  const planned: (() => void)[] = [];
  const planOf = () =>
    new Promise<ListPlan>((resolve) => {
      planned.push(() => resolve({ id: planned.length } as ListPlan));
    });
  let nowMs = 0;
  const listsOnRequest = new ListsOnRequest(pool as unknown as WorkerPool, planOf, () => nowMs, 0);
  const first = listsOnRequest.make([7], true);
  planned[0]!();
  await first;
  nowMs += 6000;
  await listsOnRequest.make([8], true);
  await listsOnRequest.make([9], true);
  expect(planned).toHaveLength(2);
  planned[1]!();
  await new Promise((resolve) => setImmediate(resolve));
  await listsOnRequest.make([9], true);
  expect(jobs.map(({ plan }) => plan.id)).toEqual([1, 1, 1, 2]);
});

it('what requests wait for is done at their priority, what is renewed gives way to them', async () => {
  const urgent: unknown[] = [];
  const pool = {
    remakeSlot: 0,
    async run({ kind }: ListsJob, atFullPriority?: boolean) {
      urgent.push([kind, atFullPriority]);
      return { lists: [], forsaken: [] };
    },
  };
  const planOf = async () => ({}) as ListPlan;
  const listsOnRequest = new ListsOnRequest(pool as unknown as WorkerPool, planOf, () => 0, 0);
  await listsOnRequest.make([7], false);
  await listsOnRequest.make([7], true);
  await listsOnRequest.answer({
    userRow: 7,
    items: { members: undefined, allowed: new Uint32Array(1), boosts: [] },
    wanted: 5,
    known: undefined,
  });
  expect(urgent).toEqual([
    ['lists', false],
    ['lists', true],
    ['question', true],
  ]);
});
