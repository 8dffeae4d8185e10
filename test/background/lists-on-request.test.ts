import { expect, it, vi } from 'vitest';
import { ListsOnRequest } from '../../src/background/lists/lists-on-request.ts';
import type { WorkerPool } from '../../src/background/pool/pool.ts';
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
  listsOnRequest.use({ number: 1, ranking: undefined });
  const plan = async (at: number) => {
    await vi.waitFor(() => expect(planned).toHaveLength(at + 1), 600_000);
    return planned[at]!;
  };
  const made = listsOnRequest.make([7]);
  const first = await plan(0);
  listsOnRequest.use({ number: 2, ranking: undefined });
  first.done();
  (await plan(1)).done();
  await made;
  expect(jobs.map(({ plan }) => plan.generation.number)).toEqual([2]);

  // A plan is used again for some seconds.
  await listsOnRequest.make([8]);
  expect(planned.map(({ number }) => number)).toEqual([1, 2]);
  nowMs += 60_000;
  const later = listsOnRequest.make([9]);
  (await plan(2)).done();
  await later;
  expect(jobs).toHaveLength(3);
});

it('no two jobs use the one scratch memory at once, and who asks too much is refused', async () => {
  let atWork = 0;
  let most = 0;
  const pool = {
    remakeSlot: 0,
    async run({ kind }: { readonly kind: string }) {
      most = Math.max(most, ++atWork);
      await new Promise((resolve) => setImmediate(resolve));
      atWork--;
      return kind === 'lists' ? { lists: [], forsaken: [] } : { list: undefined, more: [] };
    },
  };
  const listsOnRequest = new ListsOnRequest(
    pool as unknown as WorkerPool,
    async () => ({}) as ListPlan,
    () => 0,
    0,
  );
  const items = { members: undefined, allowed: new Uint32Array(1), boosts: [] };
  const ask = () => listsOnRequest.ask({ userRow: 1, items, wanted: 5, known: [] });
  const asked = Array.from({ length: 80 }, ask);
  const made = listsOnRequest.make([7]);
  const ended = await Promise.allSettled(asked);
  // The lists of users are never refused for the sake of questions.
  expect(await made).toEqual({ lists: [], forsaken: [] });
  expect(ended.filter(({ status }) => status === 'rejected')).toHaveLength(15);
  expect(most).toBe(1);
});
