import { describe, expect, it } from 'vitest';
import { History } from '../../../src/recommend/history/history.ts';
import { ActiveUsers } from '../../../src/recommend/lists/active-users.ts';
import { ListVersions } from '../../../src/recommend/lists/list-versions.ts';
import type { ListMaker } from '../../../src/recommend/lists/maker/list-maker.ts';
import { UserLists } from '../../../src/recommend/lists/user-lists.ts';
import { type Generation, GenerationSlot } from '../../../src/recommend/models/generation-slot.ts';
import type { CacheStore, UserList } from '../../../src/store/cache-store.ts';
import type { FeedbackColumns, LocalReads } from '../../../src/store/data-store.ts';
import { settings } from '../hand-made.ts';

/** Item row, type, milliseconds. */
type Record3 = readonly [number, string, number];

/** A user's feedback as a node keeps it, which has its own numbers for types. */
function node(records: readonly Record3[], types = ['like', 'read']) {
  const reads = {
    feedbackTypes: () => types,
    readUserFeedback(_: number, out: FeedbackColumns) {
      out.clear();
      for (const [item, type, timeMs] of records) out.push(0, item, types.indexOf(type), timeMs);
    },
  } as unknown as LocalReads;
  const isPositive = (type: number) => types[type] === 'like';
  const history = new History(reads);
  history.load(0, 1e15);
  return { history, isPositive, types: () => types };
}

const GROUND = { settings: settings({}), positiveTypes: ['like'], positiveTtlMs: 1e9 };
const BEFORE = { settings: settings({}), positiveTypes: ['like'], positiveTtlMs: 1e8 };

function basis(records: readonly Record3[], types?: string[], ground = GROUND) {
  const { history, isPositive, types: names } = node(records, types);
  return new ListVersions(ground, isPositive, names).basisOf(history);
}

describe('the version of a user', () => {
  const likes: Record3[] = [
    [3, 'like', 1_700_000_000_123],
    [900_000, 'like', -5],
  ];

  it('is the same on each node, whatever numbers it has given to types', () => {
    expect(basis(likes, ['read', 'x', 'like'])).toEqual(basis([...likes].reverse()));
    expect(Number.isSafeInteger(basis(likes).version)).toBe(true);
  });

  it('is another with each feedback that changes lists, and with no other', () => {
    const { version } = basis(likes);
    expect(basis([...likes, [4, 'read', 7]]).version).toBe(version);
    const others: Record3[][] = [
      [],
      [likes[0]!],
      [...likes, [4, 'like', 7]],
      [[3, 'like', 1_700_000_000_124], likes[1]!],
      [[3, 'like', 1_700_000_000_123 + 2 ** 32], likes[1]!],
      [[4, 'like', 1_700_000_000_123], likes[1]!],
    ];
    const versions = others.map((records) => basis(records).version);
    expect(new Set([version, ...versions]).size).toBe(others.length + 1);
  });

  it('tells apart thousands of histories', () => {
    const seen = new Set<number>();
    for (let item = 0; item < 100; item++)
      for (let timeMs = 0; timeMs < 50; timeMs++) seen.add(basis([[item, 'like', timeMs]]).version);
    expect(seen.size).toBe(5000);
  });
});

describe('lists that several nodes make', () => {
  const USER = 0;

  /** A cache that is asked over a network, and a node that has this feedback and generation. */
  function shared(cache: Map<number, UserList>, records: readonly Record3[], generation = 1, share = 1) {
    const { history, isPositive, types } = node(records);
    const state = { made: 0, nowMs: 2e12 };
    const versions = new ListVersions(GROUND, isPositive, types);
    const store = {
      local: undefined,
      getList: async (row: number) => cache.get(row),
      putLists: async (lists: readonly UserList[], removed: readonly number[] = []) => {
        for (const list of lists) cache.set(list.userRow, list);
        for (const row of removed) cache.delete(row);
      },
    };
    const clock = () => state.nowMs;
    const lists = new UserLists({
      cache: store as unknown as CacheStore,
      generations: Object.assign(new GenerationSlot(), { current: { number: generation } as Generation }),
      maker: {
        make: () => (generation === 0 ? undefined : { rows: [10 * generation + ++state.made], scores: [1] }),
        hasNews: () => false,
        hasExpired: () => false,
      } as unknown as ListMaker,
      ages: { refreshMs: 1e5, expireMs: 1e6, arrivalMs: 1e5 },
      validSinceMs: 0,
      arrivedMs: () => 0,
      versions,
      active: new ActiveUsers(0, clock),
      userCount: () => 1,
      isSettled: () => true,
      itemCount: () => 100,
      clock,
      arrivalsSince: () => [],
      elapsedMs: clock,
      share,
      worker: { make: () => new Promise(() => {}), answer: () => new Promise(() => {}) },
      needsWorker: false,
      onReplaced: () => {},
      onTrouble: () => {},
    });
    const ask = async () => {
      const list = await lists.of(history, await lists.fetch(USER));
      await lists.flush();
      return list && [...list.itemRows];
    };
    return { ask, lists, state, versions, history };
  }

  it('a list that one has made the other takes', async () => {
    const cache = new Map<number, UserList>();
    const [a, b] = [shared(cache, [[1, 'like', 5]]), shared(cache, [[1, 'like', 5]])];
    expect(await a.ask()).toEqual([11]);
    expect(await b.ask()).toEqual([11]);
    expect([a.state.made, b.state.made]).toEqual([1, 0]);
    // What this node was told of others' writes, which they have made the list with.
    b.lists.markDirty(USER, true);
    expect(await b.ask()).toEqual([11]);
    expect(b.lists.staleCount).toBe(0);
  });

  it('one of other feedback, settings or generation is made anew, and one that is too old', async () => {
    const cache = new Map<number, UserList>();
    await shared(cache, [[1, 'like', 5]]).ask();
    const b = shared(cache, [
      [1, 'like', 5],
      [2, 'like', 6],
    ]);
    await b.ask();
    expect(b.state.made).toBe(1);
    cache.set(USER, { ...cache.get(USER)!, basis: basis([], undefined, BEFORE) });
    expect(await b.lists.find(USER)).toBeUndefined();
    await b.ask();
    expect(b.state.made).toBe(2);
    const c = shared(
      cache,
      [
        [1, 'like', 5],
        [2, 'like', 6],
      ],
      2,
    );
    await c.ask();
    expect([c.state.made, cache.get(USER)!.generation]).toEqual([1, 2]);
    c.state.nowMs += 1e5 + 1;
    await c.ask();
    expect(c.state.made).toBe(2);
  });

  it('a node that has just started and has no generation yet serves it, and leaves it to the others', async () => {
    const cache = new Map<number, UserList>();
    await shared(cache, [[1, 'like', 5]]).ask();
    const stored = cache.get(USER)!;
    cache.set(USER, { ...stored, madeMs: stored.madeMs - 10 });
    const b = shared(cache, [[1, 'like', 5]], 0);
    await b.lists.restore();
    expect(await b.ask()).toEqual([11]);
    expect(cache.get(USER)?.itemRows).toEqual(stored.itemRows);
    const c = shared(cache, [[2, 'like', 6]], 0);
    await c.lists.restore();
    expect(await c.ask()).toBeUndefined();
  });

  it('one that was made before feedback was taken back is not served, though nobody here knows of that', async () => {
    const cache = new Map<number, UserList>();
    const likes: Record3[] = [
      [1, 'like', 5],
      [2, 'like', 6],
    ];
    await shared(cache, likes).ask();
    const b = shared(cache, [[1, 'like', 5]], 0);
    expect(await b.ask()).toBeUndefined();
    expect(cache.has(USER)).toBe(false);
  });

  it('one of another user is not served', async () => {
    const cache = new Map<number, UserList>();
    await shared(cache, [[1, 'like', 5]]).ask();
    cache.set(USER, { ...cache.get(USER)!, userRow: 7 });
    expect(await shared(cache, [[1, 'like', 5]], 0).ask()).toBeUndefined();
  });

  it('without time to make it anew, one of another generation is served, and looked at again later', async () => {
    const cache = new Map<number, UserList>();
    await shared(cache, [[1, 'like', 5]]).ask();
    const b = shared(cache, [[1, 'like', 5]], 2, 0);
    expect(await b.ask()).toEqual([11]);
    expect(b.state.made).toBe(0);
  });

  it('what is kept in memory of a list counts from when its generation came to this node', async () => {
    const cache = new Map<number, UserList>();
    await shared(cache, [[1, 'like', 5]]).ask();
    const b = shared(cache, [[1, 'like', 5]]);
    b.state.nowMs += 50;
    const list = (await b.lists.of(b.history, await b.lists.fetch(USER)))!;
    expect(b.lists.isStale(list, b.state.nowMs)).toBe(false);
    expect(b.lists.isStale(cache.get(USER)!, b.state.nowMs)).toBe(true);
  });
});
