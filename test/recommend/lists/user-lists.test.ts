import { beforeEach, describe, expect, it } from 'vitest';
import type { History } from '../../../src/recommend/history/history.ts';
import { ActiveUsers } from '../../../src/recommend/lists/active-users.ts';
import type { Remade } from '../../../src/recommend/lists/list-queue.ts';
import type { ListVersions } from '../../../src/recommend/lists/list-versions.ts';
import { MainThreadTime } from '../../../src/recommend/lists/main-thread-time.ts';
import type { ListMaker } from '../../../src/recommend/lists/maker/list-maker.ts';
import { UserLists } from '../../../src/recommend/lists/user-lists.ts';
import type { GenerationSlot } from '../../../src/recommend/models/generation-slot.ts';
import type { CacheStore, UserList } from '../../../src/store/cache-store.ts';

const AGES = { refreshMs: 1e6, expireMs: 1e6, arrivalMs: 10 };
const USER = 3;

/** A cache in memory that stores when it is told to, and fails while it is told to. */
class FakeCache {
  readonly stored = new Map<number, UserList>();
  fails = false;
  readonly local = { refresh() {}, readList: (row: number) => this.stored.get(row) };
  async putLists(lists: readonly UserList[], removed: readonly number[] = []): Promise<void> {
    if (this.fails) throw new Error('no space');
    for (const list of lists) this.stored.set(list.userRow, list);
    for (const row of removed) this.stored.delete(row);
  }
}

let nowMs: number;
let cache: FakeCache;
/** What the maker makes now, undefined for nothing; and how often it was asked. */
let rows: number[] | undefined;
let madeHere: number;
let newcomers: { itemRow: number; score: number }[];
let arrivals: number[];
let arrivedMs: number;
let aside: { userRows: readonly number[]; answer: (remade: Remade) => void }[];
let replaced: number[];
let troubles: string[];
let itemCount: number;
let isSettled: boolean;
let generations: { current: { number: number } };

beforeEach(() => {
  nowMs = 1000;
  cache = new FakeCache();
  rows = [1, 2, 3];
  madeHere = 0;
  newcomers = [];
  arrivals = [];
  arrivedMs = 0;
  aside = [];
  replaced = [];
  troubles = [];
  itemCount = 1000;
  isSettled = true;
  generations = { current: { number: 0 } };
});

/** @param share of the time for lists made here */
function lists(share = 1, isVersioned = false, needsWorker = false): UserLists {
  const maker = {
    listLength: 3,
    make() {
      madeHere++;
      return rows && { rows, scores: rows.map((_, at) => 1 - at / 10) };
    },
    hasNews: () => false,
    hasExpired: () => false,
    scoreNewcomers() {
      return newcomers;
    },
  };
  return new UserLists({
    cache: cache as unknown as CacheStore,
    generations: generations as GenerationSlot,
    maker: maker as unknown as ListMaker,
    ages: AGES,
    validSinceMs: 0,
    arrivedMs: () => arrivedMs,
    active: new ActiveUsers(0, () => nowMs),
    userCount: () => 1000,
    isSettled: () => isSettled,
    itemCount: () => itemCount,
    clock: () => nowMs,
    arrivalsSince: () => arrivals,
    elapsedMs: () => nowMs,
    share,
    worker: {
      make: (userRows) =>
        new Promise((answer) => {
          aside.push({ userRows, answer });
        }),
      answer: () => Promise.reject(new Error('no question is asked')),
    },
    needsWorker,
    ...(isVersioned && { versions: {} as ListVersions }),
    onReplaced: (userRow) => replaced.push(userRow),
    onTrouble: (message) => troubles.push(message),
  });
}

const history = { userRow: USER, untilMs: 1000, nextEffectMs: Number.POSITIVE_INFINITY } as History;

function list(itemRows: readonly number[], madeMs = nowMs): UserList {
  const scores = Float32Array.from(itemRows, (_, at) => 1 - at / 10);
  return {
    userRow: USER,
    generation: 0,
    madeMs,
    knowsMs: madeMs,
    itemRows: Uint32Array.from(itemRows),
    scores,
  };
}

async function rowsOf(all: UserLists): Promise<number[] | undefined> {
  const found = await all.of(history);
  return found && [...found.itemRows];
}

const turns = async () => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

it('the list of a user with very much feedback is made by a worker, however much time there is here', async () => {
  const all = lists();
  cache.stored.set(USER, list([9]));
  all.markDirty(USER);
  const found = all.of({ ...history, length: 50_000 } as History);
  await turns();
  expect(madeHere).toBe(0);
  expect(aside.map(({ userRows }) => userRows)).toEqual([[USER]]);
  aside[0]!.answer({ lists: [list([7, 8])], forsaken: [] });
  expect([...(await found)!.itemRows]).toEqual([7, 8]);
});

it('a list is ready where it is answered as it is', async () => {
  const all = lists();
  const ready = () => [...(all.ready(history)?.itemRows ?? [])];
  expect(ready()).toEqual([]);
  expect(all.ready({ ...history, userRow: -1 } as History)).toBeUndefined();
  cache.stored.set(USER, list([9, 8]));
  expect(ready()).toEqual([9, 8]);
  expect(await rowsOf(all)).toEqual([9, 8]);
  all.markDirty(USER);
  expect(ready()).toEqual([]);
  expect(await rowsOf(all)).toEqual([1, 2, 3]);
  expect(ready()).toEqual([1, 2, 3]);
  nowMs += AGES.arrivalMs + 1;
  expect(ready()).toEqual([1, 2, 3]);
  arrivedMs = nowMs;
  expect(ready()).toEqual([]);
  arrivedMs = 0;
  nowMs += AGES.refreshMs;
  expect(ready()).toEqual([]);
  expect(madeHere).toBe(1);
});

it('a list of a time that is ahead is made again once the clock is set back', async () => {
  const all = lists();
  for (const aheadMs of [AGES.refreshMs + 1, 10 * AGES.refreshMs]) {
    const early = list([9, 8], nowMs + aheadMs);
    cache.stored.set(USER, early);
    expect(all.isStale(early, nowMs)).toBe(true);
    expect(all.ready(history)).toBeUndefined();
  }
  expect(await rowsOf(all)).toEqual([1, 2, 3]);
  cache.stored.set(USER, list([9, 8], nowMs + 1));
  expect(all.ready(history)).toBeDefined();
});

it('no list is made before feedback is counted: the last one serves, but not to whom took feedback back', async () => {
  isSettled = false;
  const all = lists();
  expect(await rowsOf(all)).toBeUndefined();
  cache.stored.set(USER, list([9, 8]));
  all.markDirty(USER);
  expect(await rowsOf(all)).toEqual([9, 8]);
  expect(all.isStale(list([9, 8]), nowMs)).toBe(true);
  all.markDirty(USER, true);
  expect(await rowsOf(all)).toBeUndefined();
  expect([madeHere, aside]).toEqual([0, []]);
  isSettled = true;
  expect(await rowsOf(all)).toEqual([1, 2, 3]);
});

it('a list takes in nothing new before feedback is counted', async () => {
  isSettled = false;
  const all = lists();
  cache.stored.set(USER, list([9, 8]));
  nowMs += AGES.arrivalMs + 1;
  arrivedMs = nowMs;
  newcomers = [{ itemRow: 7, score: 2 }];
  arrivals = [7];
  expect(await rowsOf(all)).toEqual([9, 8]);
  isSettled = true;
  expect(await rowsOf(all)).toEqual([7, 9, 8]);
});

/** The users of a block that is made elsewhere. */
const BLOCK = Uint32Array.from({ length: 256 }, (_, row) => row);

describe('a list whose user has new feedback', () => {
  it('is made again once, also while a pass is at work on it', async () => {
    const all = lists();
    cache.stored.set(USER, list([9]));
    const { end } = all.queue.beginBlock(BLOCK, nowMs);
    all.markDirty(USER);
    expect(await rowsOf(all)).toEqual([1, 2, 3]);
    expect(await rowsOf(all)).toEqual([1, 2, 3]);
    await all.flush();
    // The block saw nothing of the feedback, and stores what it has made after that.
    cache.stored.set(USER, list([9]));
    expect(await rowsOf(all)).toEqual([1, 2, 3]);
    end(true);
    expect(await rowsOf(all)).toEqual([1, 2, 3]);
    await all.flush();
    expect([...cache.stored.get(USER)!.itemRows]).toEqual([1, 2, 3]);
    expect(madeHere).toBe(1);
  });

  it('is as it should be once a block that began later is done', async () => {
    const all = lists();
    cache.stored.set(USER, list([9]));
    all.markDirty(USER);
    const { end } = all.queue.beginBlock(BLOCK, nowMs);
    cache.stored.set(USER, list([7, 8]));
    end(true);
    expect(await rowsOf(all)).toEqual([7, 8]);
    expect(madeHere).toBe(0);
    expect(replaced).toContain(USER);
  });

  it('is still behind after a block that failed, or that began before', async () => {
    const all = lists();
    cache.stored.set(USER, list([9]));
    all.markDirty(USER);
    all.queue.beginBlock(BLOCK, nowMs).end(false);
    expect(await rowsOf(all)).toEqual([1, 2, 3]);
    const { end } = all.queue.beginBlock(BLOCK, nowMs);
    all.markDirty(USER);
    end(true);
    expect(await rowsOf(all)).toEqual([1, 2, 3]);
    expect(madeHere).toBe(2);
  });
});

describe('a list made here that a block at work has made, too', () => {
  it('gives way to that, which was made of more, whether it was made before the block or meanwhile', async () => {
    const all = lists(1, false, true);
    for (const isBefore of [true, false]) {
      cache.stored.delete(USER);
      if (isBefore) expect(await rowsOf(all)).toEqual([1, 2, 3]);
      nowMs++;
      const { end } = all.queue.beginBlock(BLOCK, nowMs);
      if (!isBefore) expect(await rowsOf(all)).toEqual([1, 2, 3]);
      await all.flush();
      cache.stored.set(USER, list([7, 8]));
      end(true);
      expect(await rowsOf(all)).toEqual([7, 8]);
      await all.flush();
      expect([...cache.stored.get(USER)!.itemRows]).toEqual([7, 8]);
    }
  });

  it('stays where the block failed, or made none', async () => {
    const all = lists(1, false, true);
    for (const areStored of [true, false]) {
      cache.stored.set(USER, list([9]));
      all.markDirty(USER);
      expect(await rowsOf(all)).toEqual([1, 2, 3]);
      nowMs++;
      all.queue.beginBlock(BLOCK, nowMs).end(areStored);
      expect(await rowsOf(all)).toEqual([1, 2, 3]);
      await all.flush();
      expect([...cache.stored.get(USER)!.itemRows]).toEqual([1, 2, 3]);
    }
  });

  it('is gone where the user is deleted meanwhile', async () => {
    const all = lists();
    cache.stored.set(USER, list([9]));
    const { end } = all.queue.beginBlock(BLOCK, nowMs);
    all.delete([USER]);
    cache.stored.set(USER, list([7, 8]));
    end(true);
    expect(await all.find(USER)).toBeUndefined();
    await all.flush();
    expect(cache.stored.has(USER)).toBe(false);
    expect(all.staleCount).toBe(0);
  });

  it('is gone still where it was dropped before and the block makes none', async () => {
    const all = lists();
    cache.stored.set(USER, list([9]));
    rows = undefined;
    all.markDirty(USER, true);
    expect(await rowsOf(all)).toBeUndefined();
    nowMs++;
    all.queue.beginBlock(BLOCK, nowMs).end(true);
    expect(await rowsOf(all)).toBeUndefined();
    await all.flush();
    expect(cache.stored.has(USER)).toBe(false);
  });
});

describe('a pass over the users', () => {
  /** Users of a block of whom the pass makes no list; of the others it fails. */
  const leftOut = (all: UserLists) => {
    const { userRows, end } = all.queue.beginBlock(BLOCK, nowMs);
    end(false);
    return [...BLOCK].filter((row) => !userRows.includes(row));
  };

  beforeEach(() => {
    generations.current = { number: 7 };
    cache.stored.set(USER, list([9]));
  });

  it('leaves out whose list was made since it began, of the feedback as it is, with its generation', async () => {
    const all = lists();
    all.markDirty(USER);
    await rowsOf(all);
    const leave = all.queue.beginPass(7, nowMs);
    // That was made before.
    expect(leftOut(all)).toEqual([]);
    all.markDirty(USER);
    await rowsOf(all);
    expect(leftOut(all)).toEqual([USER]);
    all.markDirty(USER);
    expect(leftOut(all)).toEqual([]);
    leave();
    all.queue.beginPass(8, nowMs);
    all.markDirty(USER);
    await rowsOf(all);
    expect(leftOut(all)).toEqual([]);
  });

  it('is left those that were stale when it began, but nobody without a list and no later feedback', async () => {
    const all = lists();
    all.markDirty(USER);
    const leave = all.queue.beginPass(7, nowMs);
    expect(await rowsOf(all)).toEqual([9]);
    expect(await rowsOf(all)).toEqual([9]);
    expect(madeHere).toBe(0);
    expect([...all.queue.takeRenewals(10)]).toEqual([USER]);
    all.markDirty(USER);
    expect(await rowsOf(all)).toEqual([1, 2, 3]);
    const other = all.of({ ...history, userRow: 4 } as History) as UserList;
    expect([...other.itemRows]).toEqual([1, 2, 3]);
    expect(madeHere).toBe(2);
    leave();
  });

  it('makes each list again where lists say what they were made from', () => {
    const all = lists(1, true);
    all.queue.beginPass(7, nowMs);
    all.queue.beginBlock(BLOCK, nowMs).end(true);
    expect(leftOut(all)).toEqual([]);
  });

  it('leaves out nobody whose list was made here where only a worker has all that it is made of', async () => {
    const all = lists(1, false, true);
    all.queue.beginPass(7, nowMs);
    all.markDirty(USER);
    await rowsOf(all);
    expect(leftOut(all)).toEqual([]);
  });

  it('takes over those who are asked for, who are then asked for once, and makes them once', async () => {
    const all = lists(0);
    const leave = all.queue.beginPass(7, nowMs);
    all.markDirty(USER);
    expect(await rowsOf(all)).toEqual([9]);
    const asked = all.queue.takeRenewals(10);
    expect([...asked]).toEqual([USER]);
    const { userRows, end } = all.queue.beginBlock(asked, nowMs);
    expect([...userRows]).toEqual([USER]);
    expect(await rowsOf(all)).toEqual([9]);
    expect(all.queue.takeRenewals(10)).toHaveLength(0);
    cache.stored.set(USER, { ...list([7, 8]), generation: 7 });
    end(true);
    expect(await rowsOf(all)).toEqual([7, 8]);
    expect(leftOut(all)).toEqual([USER]);
    leave();
    await turns();
    expect(aside).toHaveLength(0);
  });

  it('makes those again whose feedback changes meanwhile, and those of a block that failed', async () => {
    const all = lists(0);
    all.queue.beginPass(7, nowMs);
    all.markDirty(USER);
    await rowsOf(all);
    for (const areStored of [true, false]) {
      const { end } = all.queue.beginBlock(all.queue.takeRenewals(10), nowMs);
      if (areStored) all.markDirty(USER);
      end(areStored);
      expect(await rowsOf(all)).toEqual([9]);
    }
    expect([...all.queue.takeRenewals(10)]).toEqual([USER]);
  });

  it('makes nobody in two blocks at once, so that no older list is written over a newer one', async () => {
    const all = lists(0);
    all.queue.beginPass(7, nowMs);
    const { userRows, end } = all.queue.beginBlock(BLOCK, nowMs);
    expect([...userRows]).toContain(USER);
    all.markDirty(USER);
    await rowsOf(all);
    const other = all.queue.beginBlock(all.queue.takeRenewals(10), nowMs);
    expect([...other.userRows]).toEqual([]);
    other.end(true);
    // What the first block has made knows nothing of the feedback.
    end(true);
    await rowsOf(all);
    const again = all.queue.beginBlock(all.queue.takeRenewals(10), nowMs);
    expect([...again.userRows]).toEqual([USER]);
    again.end(true);
    expect(leftOut(all)).toContain(USER);
  });

  it('leaves to the worker aside whom somebody waits for, and at its end all others', async () => {
    const all = lists(0);
    const leave = all.queue.beginPass(7, nowMs);
    all.markDirty(USER);
    await rowsOf(all);
    const waited = all.of({ ...history, userRow: 4, length: 50_000 } as History);
    await turns();
    expect(aside.map(({ userRows }) => userRows)).toEqual([[4]]);
    aside[0]!.answer({ lists: [{ ...list([5]), userRow: 4 }], forsaken: [] });
    expect([...(await waited)!.itemRows]).toEqual([5]);
    leave();
    await turns();
    expect(aside.map(({ userRows }) => userRows)).toEqual([[4], [USER]]);
    expect(all.queue.takeRenewals(10)).toHaveLength(0);
  });
});

describe('without time on the thread that serves', () => {
  it('the older list is served while a worker makes the new one, once', async () => {
    const all = lists(0);
    cache.stored.set(USER, list([9]));
    all.markDirty(USER);
    expect(await rowsOf(all)).toEqual([9]);
    expect(all.isStale(list([9]), nowMs)).toBe(false);
    expect(await rowsOf(all)).toEqual([9]);
    expect(aside.map(({ userRows }) => userRows)).toEqual([[USER]]);
    aside[0]!.answer({ lists: [list([4, 5])], forsaken: [] });
    await turns();
    expect(await rowsOf(all)).toEqual([4, 5]);
    expect([madeHere, aside.length]).toEqual([0, 1]);
    expect(replaced).toContain(USER);
  });

  it('the list of who was left out of a pass is made when asked for, and the older one served meanwhile', async () => {
    const all = lists(0);
    cache.stored.set(USER, list([9]));
    nowMs += 10;
    all.queue.endPass(nowMs);
    expect(await rowsOf(all)).toEqual([9]);
    expect(aside.map(({ userRows }) => userRows)).toEqual([[USER]]);
    aside[0]!.answer({ lists: [list([4, 5])], forsaken: [] });
    await turns();
    expect(await rowsOf(all)).toEqual([4, 5]);
    expect(aside).toHaveLength(1);
  });

  it('what a worker made before more feedback came is served until the next list is made', async () => {
    const all = lists(0);
    cache.stored.set(USER, list([9]));
    all.markDirty(USER);
    nowMs++;
    await rowsOf(all);
    all.markDirty(USER);
    aside[0]!.answer({ lists: [list([4, 5])], forsaken: [] });
    await turns();
    expect(await rowsOf(all)).toEqual([4, 5]);
    expect(aside).toHaveLength(2);
    aside[1]!.answer({ lists: [list([6])], forsaken: [] });
    await turns();
    expect(await rowsOf(all)).toEqual([6]);
    expect(aside).toHaveLength(2);
  });

  it('what a worker made before feedback was taken back is not taken', async () => {
    const all = lists(0);
    cache.stored.set(USER, list([9]));
    all.markDirty(USER);
    nowMs++;
    await rowsOf(all);
    all.markDirty(USER, true);
    aside[0]!.answer({ lists: [list([4, 5])], forsaken: [] });
    await turns();
    expect([...(await all.find(USER))!.itemRows]).toEqual([9]);
  });

  it('nor once nothing was left to make a list of, and other feedback has come', async () => {
    const all = lists(0);
    cache.stored.set(USER, list([9]));
    all.markDirty(USER);
    await rowsOf(all);
    all.markDirty(USER, true);
    rows = undefined;
    expect(await rowsOf(all)).toBeUndefined();
    all.markDirty(USER);
    aside[0]!.answer({ lists: [list([4, 5])], forsaken: [] });
    await turns();
    expect(await all.find(USER)).toBeUndefined();
  });

  it('what a worker made is not taken over a list that was made here since', async () => {
    // Time for one list only.
    const all = lists(0);
    cache.stored.set(USER, list([9]));
    all.markDirty(USER);
    await rowsOf(all);
    const older = list([4, 5]);
    nowMs++;
    all.markDirty(USER, true);
    expect(await rowsOf(all)).toEqual([1, 2, 3]);
    all.markDirty(USER);
    aside[0]!.answer({ lists: [older], forsaken: [] });
    await turns();
    expect([...(await all.find(USER))!.itemRows]).toEqual([1, 2, 3]);
  });

  it('what a worker made of a user who is gone by then is not taken', async () => {
    const all = lists(0);
    cache.stored.set(USER, list([9]));
    all.markDirty(USER);
    await rowsOf(all);
    all.delete([USER]);
    aside[0]!.answer({ lists: [list([4, 5])], forsaken: [] });
    await turns();
    expect(await all.find(USER)).toBeUndefined();
    await all.flush();
    expect(cache.stored.has(USER)).toBe(false);
  });

  it('the list of who took feedback back is made again all the same', async () => {
    const all = lists(0);
    cache.stored.set(USER, list([9]));
    all.markDirty(USER, true);
    expect(await rowsOf(all)).toEqual([1, 2, 3]);
  });

  it('a user without a list, for whom a worker finds none, has none', async () => {
    const all = lists(0);
    expect(await rowsOf(all)).toBeUndefined();
    aside[0]!.answer({ lists: [], forsaken: [USER] });
    await turns();
    expect(await rowsOf(all)).toBeUndefined();
  });
});

it('no list of a very large catalogue is made on the thread that serves', async () => {
  itemCount = 1_000_000;
  const all = lists(0.5);
  const found = all.of(history);
  await turns();
  expect(madeHere).toBe(0);
  aside[0]!.answer({ lists: [list([7, 8])], forsaken: [] });
  expect([...(await found)!.itemRows]).toEqual([7, 8]);
});

describe('a user for whom no list can be made', () => {
  beforeEach(() => {
    rows = undefined;
  });

  it('is not tried again with each request, but after new feedback, another generation, or some time', async () => {
    const all = lists();
    for (let request = 0; request < 5; request++) expect(await rowsOf(all)).toBeUndefined();
    expect(madeHere).toBe(1);
    all.markDirty(USER);
    for (let request = 0; request < 5; request++) expect(await rowsOf(all)).toBeUndefined();
    expect(madeHere).toBe(2);
    generations.current = { number: 7 };
    for (let request = 0; request < 5; request++) expect(await rowsOf(all)).toBeUndefined();
    expect(madeHere).toBe(3);
    nowMs += AGES.arrivalMs + 1;
    rows = [1];
    expect(await rowsOf(all)).toEqual([1]);
  });

  it('is tried again once other feedback takes effect, and once the clock is set back', async () => {
    const all = lists();
    const at = (untilMs: number) => all.of({ userRow: USER, untilMs, nextEffectMs: 1005 } as History);
    for (const untilMs of [1000, 1004]) expect(await at(untilMs)).toBeUndefined();
    expect(madeHere).toBe(1);
    expect(await at(1005)).toBeUndefined();
    expect(madeHere).toBe(2);
    nowMs -= 500;
    expect(await at(1000)).toBeUndefined();
    expect(madeHere).toBe(3);
  });

  it('is served the last list on, but not one of what was taken back', async () => {
    const all = lists();
    cache.stored.set(USER, list([9]));
    all.markDirty(USER);
    for (let request = 0; request < 5; request++) expect(await rowsOf(all)).toEqual([9]);
    expect(madeHere).toBe(1);
    all.markDirty(USER, true);
    for (let request = 0; request < 5; request++) expect(await rowsOf(all)).toBeUndefined();
    expect(madeHere).toBe(2);
    await all.flush();
    expect(cache.stored.has(USER)).toBe(false);
  });

  it('asks no worker again that has found none', async () => {
    const all = lists(0);
    const first = rowsOf(all);
    await turns();
    aside[0]!.answer({ lists: [], forsaken: [USER] });
    await first;
    for (let request = 0; request < 5; request++) {
      void rowsOf(all);
      await turns();
    }
    expect(aside).toHaveLength(1);
  });

  it('asks again once another generation serves than the one that the worker had', async () => {
    const all = lists(0);
    const first = rowsOf(all);
    await turns();
    generations.current = { number: 2 };
    aside[0]!.answer({ lists: [], forsaken: [] });
    await first;
    void rowsOf(all);
    await turns();
    expect(aside).toHaveLength(2);
  });
});

it('one list that took very long keeps those of others from being made here for some minutes at most', () => {
  const here = new MainThreadTime({ share: 0.5, now: () => nowMs, itemCount: () => 10 });
  here.spend(() => {
    nowMs += 400;
  });
  expect(here.takesLong(history)).toBe(true);
  nowMs += 300_000;
  expect(here.takesLong(history)).toBe(false);
});

describe('an item that arrives', () => {
  it('is left to a worker where the user has very much feedback, and the older list served meanwhile', async () => {
    const all = lists();
    cache.stored.set(USER, list([7, 8, 9]));
    nowMs += AGES.arrivalMs + 1;
    arrivedMs = nowMs;
    newcomers = [{ itemRow: 5, score: 0.95 }];
    const found = await all.of({ ...history, length: 50_000 } as History);
    expect([...found!.itemRows]).toEqual([7, 8, 9]);
    await turns();
    expect(aside.map(({ userRows }) => userRows)).toEqual([[USER]]);
    expect(madeHere).toBe(0);
  });

  it('is put into the list by its score, and no list is made', async () => {
    const all = lists();
    cache.stored.set(USER, list([7, 8, 9]));
    nowMs += AGES.arrivalMs + 1;
    arrivedMs = nowMs;
    arrivals = [5];
    newcomers = [{ itemRow: 5, score: 0.95 }];
    expect(await rowsOf(all)).toEqual([7, 5, 8]);
    expect(madeHere).toBe(0);
    // Until the next one arrives there is nothing to do, though the list is as old as it was.
    newcomers = [{ itemRow: 6, score: 2 }];
    expect(await rowsOf(all)).toEqual([7, 5, 8]);
    expect(await all.find(USER)).toMatchObject({ madeMs: 1000, knowsMs: nowMs });
    await all.flush();
    expect([...cache.stored.get(USER)!.itemRows]).toEqual([7, 5, 8]);
  });

  it('waits where there is no time for it', async () => {
    const all = lists(0);
    cache.stored.set(USER, list([7, 8, 9]));
    nowMs += AGES.arrivalMs + 1;
    arrivedMs = nowMs;
    newcomers = [{ itemRow: 5, score: 0.95 }];
    expect(all.isStale(list([7, 8, 9], 1000), nowMs)).toBe(false);
    expect(await rowsOf(all)).toEqual([7, 8, 9]);
  });
});

describe('a cache that takes nothing', () => {
  it('is told of, and the lists are served all the same', async () => {
    const all = lists();
    cache.fails = true;
    expect(await rowsOf(all)).toEqual([1, 2, 3]);
    await all.flush();
    rows = [4];
    all.markDirty(USER);
    expect(await rowsOf(all)).toEqual([4]);
    await all.flush();
    expect(troubles).toEqual(Array(2).fill('lists cannot be stored in the cache'));
    cache.fails = false;
    await all.flush();
    expect([...cache.stored.get(USER)!.itemRows]).toEqual([4]);
  });

  it('drops the list of a deleted user from memory all the same', async () => {
    const all = lists();
    cache.stored.set(USER, list([9]));
    cache.fails = true;
    all.delete([USER]);
    expect(await all.find(USER)).toBeUndefined();
    await turns();
    cache.fails = false;
    await all.flush();
    expect(cache.stored.size).toBe(0);
  });
});
