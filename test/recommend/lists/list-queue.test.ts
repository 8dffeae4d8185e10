import { beforeEach, expect, it } from 'vitest';
import { createRandom } from '../../../src/domain/random.ts';
import type { Freshness } from '../../../src/recommend/lists/freshness.ts';
import type { ListPlace } from '../../../src/recommend/lists/list-place.ts';
import { ListQueue, type Remade } from '../../../src/recommend/lists/list-queue.ts';
import type { Question } from '../../../src/recommend/lists/maker/answer-from-models.ts';

const items = { members: undefined, allowed: new Uint32Array(1), boosts: [] };
const wished = (userRow: number): Question => ({ userRow, items, wanted: 5, known: undefined });
const narrowed = (userRow: number): Question => ({ userRow, items, wanted: 5, known: [] });

/** Pieces of work in the order in which the worker began them, each of which ends when it is told to. */
let begun: { readonly of: string; readonly end: () => void }[];
/** Of the lists in that order, whether requests wait for some. */
let awaited: boolean[];
let atWork: number;
let most: number;
let dirty: Set<number>;
let held: Set<number>;

beforeEach(() => {
  begun = [];
  awaited = [];
  atWork = 0;
  most = 0;
  dirty = new Set();
  held = new Set();
});

async function work<T>(of: string, answer: T): Promise<T> {
  most = Math.max(most, ++atWork);
  await new Promise<void>((end) => {
    begun.push({ of, end });
  });
  atWork--;
  return answer;
}

function queue(): ListQueue {
  return new ListQueue({
    place: {
      isHeld: (row: number) => held.has(row),
      hold: (rows: Uint32Array) => {
        for (const row of rows) held.add(row);
      },
      release: (rows: Uint32Array) => {
        for (const row of rows) held.delete(row);
      },
    } as unknown as ListPlace,
    freshness: {
      isVersioned: false,
      isDirty: (row: number) => dirty.has(row),
      hasChanged: (row: number) => dirty.has(row),
      beginBlock() {},
      markMade: (row: number) => dirty.delete(row),
      endPass() {},
    } as unknown as Freshness,
    worker: {
      make: (userRows, isAwaited) => {
        awaited.push(isAwaited);
        return work(`lists ${userRows}`, { lists: [], forsaken: [] } as Remade);
      },
      answer: ({ userRow, known }) =>
        work(`${known ? 'category' : 'wish'} ${userRow}`, { list: undefined, more: [] }),
    },
    generation: () => 1,
    elapsedMs: () => 0,
    onMade() {},
    onReplaced() {},
    onTrouble() {},
  });
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Ends what is at work until nothing is. */
async function drain(): Promise<string[]> {
  await settle();
  for (let at = 0; at < begun.length; at++) {
    begun[at]!.end();
    await settle();
  }
  return begun.map(({ of }) => of);
}

it('one piece of work is done at a time, questions are refused when too many wait, and lists never for their sake', async () => {
  const all = queue();
  const asked = Array.from({ length: 80 }, () => all.ask(narrowed(1)));
  const ended = Promise.allSettled(asked);
  const made = all.wait(7);
  await drain();
  await made;
  expect((await ended).filter(({ status }) => status === 'rejected')).toHaveLength(16);
  expect(most).toBe(1);
});

it('kinds of work take turns, and users within a kind, however many one of them asks for', async () => {
  const all = queue();
  const asked = [0, 0, 0, 0, 0, 2].map((user) => all.ask(wished(user)));
  asked.push(all.ask(narrowed(3)), all.ask(narrowed(3)));
  const made = all.wait(7);
  const order = await drain();
  await Promise.all([...asked, made]);
  expect(order.slice(0, 4)).toEqual(['wish 0', 'wish 0', 'category 3', 'lists 7']);
  expect(order.slice(4, 6)).toEqual(['wish 2', 'category 3']);
  expect(order).toHaveLength(9);
});

it('a full queue gives up what the one asked last who asks most', async () => {
  const all = queue();
  const much = Array.from({ length: 65 }, () => all.ask(wished(0)));
  const refused = Promise.allSettled(much);
  const others = [1, 2, 3].map((user) => all.ask(wished(user)));
  others.push(all.ask(narrowed(0)));
  await drain();
  await Promise.all(others);
  const lost = (await refused)
    .map(({ status }, at) => (status === 'rejected' ? at : -1))
    .filter((at) => at >= 0);
  expect(lost).toEqual([61, 62, 63, 64]);
});

it('a list that is being made is not begun again for a second request', async () => {
  const all = queue();
  const first = all.wait(7);
  await settle();
  const second = all.wait(7);
  all.renew(7);
  expect(await drain()).toEqual(['lists 7']);
  await Promise.all([first, second]);
  // Of feedback that changed meanwhile it is made again.
  begun = [];
  const third = all.wait(7);
  await settle();
  all.markChanged(7, false);
  const fourth = all.wait(7);
  expect(await drain()).toEqual(['lists 7', 'lists 7']);
  await Promise.all([third, fourth]);
});

it('the worker is told whether requests wait for some of the lists', async () => {
  const all = queue();
  all.renew(1);
  await settle();
  const made = all.wait(7);
  all.renew(2);
  expect(await drain()).toEqual(['lists 1', 'lists 7,2']);
  await made;
  expect(awaited).toEqual([false, true]);
});

it('a list that a pass makes is waited for, and a pass leaves out what is made for a request', async () => {
  const all = queue();
  const leave = all.beginPass(1, 0);
  const block = all.beginBlock(Uint32Array.of(7, 8), 0);
  const first = all.wait(7);
  await settle();
  expect(begun).toEqual([]);
  block.end(true);
  await first;
  const failing = all.beginBlock(Uint32Array.of(9), 0);
  const second = all.wait(9);
  await settle();
  failing.end(false);
  await settle();
  expect([...all.beginBlock(Uint32Array.of(9, 10), 0).userRows]).toEqual([10]);
  expect(await drain()).toEqual(['lists 9']);
  await second;
  leave();
});

it('work for which nobody waits any more is not begun', async () => {
  const all = queue();
  const busy = all.ask(wished(0));
  const gone = new AbortController();
  const left = Promise.allSettled([
    all.wait(7, gone.signal),
    all.wait(7, gone.signal),
    all.wait(8, gone.signal),
    all.ask(wished(1), gone.signal),
  ]);
  const stays = all.wait(8);
  await settle();
  gone.abort();
  const after = Promise.allSettled([all.wait(9, gone.signal), all.ask(wished(9), gone.signal)]);
  expect(await drain()).toEqual(['wish 0', 'lists 8']);
  await Promise.all([busy, stays]);
  for (const { status } of [...(await left), ...(await after)]) expect(status).toBe('rejected');
});

it('renewals ride along with what is waited for, and a pass takes them over', async () => {
  const all = queue();
  all.renew(1);
  all.renew(2);
  const waited = all.wait(7);
  expect(await drain()).toEqual(['lists 7,1,2']);
  await waited;
  begun = [];
  const leave = all.beginPass(1, 0);
  all.renew(3);
  await settle();
  expect(begun).toEqual([]);
  expect([...all.takeRenewals(10)]).toEqual([3]);
  all.renew(4);
  leave();
  expect(await drain()).toEqual(['lists 4']);
});

it('begins nothing more once it is closed, and lets go those who wait', async () => {
  const all = queue();
  const first = all.wait(7);
  await settle();
  const second = all.wait(8);
  const closed = all.close();
  expect(await drain()).toEqual(['lists 7']);
  await Promise.all([first, second, closed, all.wait(9)]);
});

it('a thousand clients that go away at random have no more done than they ask for, and nothing for nobody', async () => {
  const random = createRandom(14);
  const users = 200;
  const all = queue();
  /** Clients that wait, by the work that they wait for. */
  const waiting = new Map<string, Set<AbortController>>();
  let asked = 0;
  let forNobody = 0;
  let ended = 0;
  const ask = () => {
    const user = random.below(users);
    const isList = random.below(2) === 0;
    const of = isList ? `list ${user}` : `wish ${user}`;
    const caller = new AbortController();
    const callers = waiting.get(of) ?? new Set();
    waiting.set(of, callers.add(caller));
    asked++;
    const work = isList ? all.wait(user, caller.signal) : all.ask(wished(user), caller.signal);
    work.then(
      () => callers.delete(caller),
      () => callers.delete(caller),
    );
    return caller;
  };
  /** Ends what is at work; what began before must have been waited for at its beginning. */
  const step = async () => {
    await settle();
    for (; ended < begun.length; ended++) {
      const { of, end } = begun[ended]!;
      const parts = of.startsWith('lists')
        ? of
            .slice(6)
            .split(',')
            .map((user) => `list ${user}`)
        : [of];
      for (const part of parts) if (!waiting.get(part)?.size) forNobody++;
      end();
      await settle();
    }
  };
  const clients: AbortController[] = [];
  for (let client = 0; client < 1000; client++) {
    clients.push(ask());
    // Two of three go away, many before their turn.
    if (random.below(3) > 0) clients[random.below(clients.length)]!.abort();
    if (random.below(8) === 0) await step();
  }
  await step();
  const done = begun.reduce((sum, { of }) => sum + of.split(',').length, 0);
  expect(done).toBeGreaterThan(100);
  expect(done).toBeLessThanOrEqual(asked);
  expect(forNobody).toBe(0);
  expect(most).toBe(1);
});
