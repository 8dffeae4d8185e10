import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/domain/log.ts';
import { LiveState } from '../../src/recommend/live-state.ts';
import type { UserList } from '../../src/store/cache-store.ts';
import type { Stores } from '../../src/store/open-store.ts';
import { ListPass, type ListPassOptions } from '../../src/worker/list-pass.ts';
import type { JobKind, Jobs, PlacedGeneration } from '../../src/worker/messages.ts';
import { WorkerPool } from '../../src/worker/pool.ts';
import { settings } from '../recommend/hand-made.ts';
import { NOW_MS, openIn, putFeedback, putItems, storeOptions, tempFolder } from '../store/helpers.ts';

/** Four blocks of users and a rest. */
const USERS = 1100;
const BLOCK = 256;
const ITEMS = 30;
/** Models that know nothing: lists are of popular and latest items in an order of each user's own. */
const GENERATION = { number: 7 } as PlacedGeneration;

const pools = [1, 2].map((threads) => new WorkerPool(threads));
afterAll(async () => {
  for (const pool of pools) await pool.close();
});

let stores: Stores;
let live: LiveState;
let options: ListPassOptions;

beforeEach(async () => {
  const folder = tempFolder();
  stores = openIn(folder);
  const { dataPath, cachePath } = storeOptions(folder);
  const items = Array.from({ length: ITEMS }, (_, at) => ({
    ItemId: `i${at}`,
    Timestamp: new Date(NOW_MS - at * 1000).toISOString(),
  }));
  await stores.data.write(putItems(items));
  const likes = Array.from({ length: USERS }, (_, user) => ({
    FeedbackType: 'like',
    UserId: `u${user}`,
    ItemId: `i${user % ITEMS}`,
  }));
  await stores.data.write(putFeedback(likes));
  const reads = stores.data.local!;
  const clock = () => NOW_MS;
  live = new LiveState({
    reads,
    clock,
    positiveTypes: ['like'],
    popularWindowMs: 1e9,
    itemTtlMs: Number.POSITIVE_INFINITY,
    newestCount: true,
  });
  await live.load(reads);
  options = {
    dataPath,
    cachePath,
    positiveTypes: ['like'],
    positiveTtlMs: Number.POSITIVE_INFINITY,
    userNeighborType: 'auto',
    settings: settings({ popular: true, latest: true, cacheSize: ITEMS }),
    clockErrorMs: 0,
    marks: stores.cache,
    clock,
    log: createLogger('silent', { write: () => {} }),
  };
});

/** Notes the blocks that are at work, and those whose lists are stored. */
function blocks() {
  const ended: [from: number, to: number, areStored: boolean][] = [];
  return {
    ended,
    beginBlock: (from: number, to: number) => (areStored: boolean) => void ended.push([from, to, areStored]),
  };
}

/** What was told of the pass, and how many lists it made. */
async function run(pass: ListPass, from = 0, onTold: (done: number) => void = () => {}, lists = blocks()) {
  const told: [stage: string, done: number, total: number][] = [];
  const made = await pass.run(GENERATION, live, { from, to: USERS }, lists, (...progress) => {
    told.push([progress[0], progress[1], progress[2]]);
    onTold(progress[1]);
  });
  stores.cache.local!.refresh();
  return { lists: made, told };
}

async function listsByUser(): Promise<(UserList | undefined)[]> {
  return Promise.all(Array.from({ length: USERS }, (_, row) => stores.cache.getList(row)));
}

describe('a pass over the users', () => {
  it('makes the list of every user, block by block, and says how far it is', async () => {
    const { lists, told } = await run(new ListPass(pools[0]!, options));
    expect(lists).toBe(USERS);
    expect(told).toEqual(
      [0, BLOCK, 2 * BLOCK, 3 * BLOCK, 4 * BLOCK, USERS].map((done) => [
        'Writing recommendations',
        done,
        USERS,
      ]),
    );
    const made = await listsByUser();
    made.forEach((list, userRow) => {
      expect(list).toMatchObject({ userRow, generation: 7, madeMs: NOW_MS });
      // All items but the one that the user likes, each once.
      expect(new Set(list!.itemRows).size).toBe(ITEMS - 1);
      expect(list!.itemRows).toHaveLength(ITEMS - 1);
      expect(list!.itemRows).not.toContain(userRow % ITEMS);
      expect([...list!.scores]).toEqual([...list!.scores].sort((a, b) => b - a));
    });
  });

  it('publishes each block as soon as it is done', async () => {
    const known: boolean[][] = [];
    await run(new ListPass(pools[0]!, options), 0, () => {
      const { local } = stores.cache;
      local!.refresh();
      known.push([0, BLOCK, 2 * BLOCK].map((row) => local!.readList(row) !== undefined));
    });
    expect(known.slice(0, 4)).toEqual([
      [false, false, false],
      [true, false, false],
      [true, true, false],
      [true, true, true],
    ]);
  });

  it('has nothing left to do once it came to its end', async () => {
    const pass = new ListPass(pools[0]!, options);
    expect(await pass.missingFrom(7)).toBe(0);
    await run(pass);
    expect(await pass.missingFrom(7)).toBeUndefined();
  });

  it('starts anew for another generation or other settings', async () => {
    await run(new ListPass(pools[0]!, options));
    expect(await new ListPass(pools[0]!, options).missingFrom(8)).toBe(0);
    const changed = { ...options, settings: settings({ popular: true, latest: true, cacheSize: ITEMS - 1 }) };
    expect(await new ListPass(pools[0]!, changed).missingFrom(7)).toBe(0);
    expect(await new ListPass(pools[0]!, options).missingFrom(7)).toBeUndefined();
  });

  it('that was stopped leaves a mark, and goes on from there', async () => {
    const pass = new ListPass(pools[0]!, options);
    const first = await run(pass, 0, (done) => {
      if (done === 2 * BLOCK) pass.stop();
    });
    expect(first.lists).toBe(2 * BLOCK);
    expect((await listsByUser()).map((list) => list !== undefined)).toEqual(
      Array.from({ length: USERS }, (_, row) => row < 2 * BLOCK),
    );

    const next = new ListPass(pools[0]!, options);
    const from = await next.missingFrom(7);
    expect(from).toBe(2 * BLOCK);
    const second = await run(next, from);
    expect(second.lists).toBe(USERS - 2 * BLOCK);
    expect(second.told[0]).toEqual(['Writing recommendations', 2 * BLOCK, USERS]);
    expect(second.told.at(-1)).toEqual(['Writing recommendations', USERS, USERS]);
    expect((await listsByUser()).every((list) => list !== undefined)).toBe(true);
    expect(await next.missingFrom(7)).toBeUndefined();
  });

  it('in two threads that was stopped goes on before every list that is missing', async () => {
    const pass = new ListPass(pools[1]!, options);
    await run(pass, 0, (done) => {
      if (done > 0) pass.stop();
    });
    const next = new ListPass(pools[1]!, options);
    const from = (await next.missingFrom(7))!;
    const firstMissing = (await listsByUser()).indexOf(undefined);
    expect(firstMissing).toBeGreaterThan(0);
    expect(from).toBeLessThanOrEqual(firstMissing);
    await run(next, from);
    expect((await listsByUser()).every((list) => list !== undefined)).toBe(true);
  });

  it('makes the same lists in one thread and in two', async () => {
    await run(new ListPass(pools[0]!, options));
    const one = await listsByUser();
    await stores.cache.deleteLists(Array.from({ length: USERS }, (_, row) => row));
    const { told } = await run(new ListPass(pools[1]!, options));
    expect(told.at(-1)).toEqual(['Writing recommendations', USERS, USERS]);
    expect(await listsByUser()).toEqual(one);
    // The order of a list is the user's own.
    expect(one[0]!.itemRows).not.toEqual(one[ITEMS]!.itemRows);
  });

  describe('of which a block fails', () => {
    /** Fails the block that begins at this row, so many times. */
    class FailingPool extends WorkerPool {
      running = 0;
      left: number;
      private readonly fromUserRow: number;

      constructor(fromUserRow: number, times: number) {
        super(2);
        this.fromUserRow = fromUserRow;
        this.left = times;
      }

      override async run<Kind extends JobKind>(
        job: Jobs[Kind]['job'] & { readonly kind: Kind },
      ): Promise<Jobs[Kind]['answer']> {
        this.running++;
        try {
          const answer = await super.run<Kind>(job);
          const isChosen = 'fromUserRow' in job && job.fromUserRow === this.fromUserRow;
          if (!isChosen || this.left === 0) return answer;
          this.left--;
          throw new Error('no room on the disk');
        } finally {
          this.running--;
        }
      }
    }

    it('makes it once more', async () => {
      const pool = new FailingPool(BLOCK, 1);
      expect((await run(new ListPass(pool, options))).lists).toBe(USERS);
      expect((await listsByUser()).every((list) => list !== undefined)).toBe(true);
      await pool.close();
    });

    it('for good ends in all threads, and goes on there the next time', async () => {
      const pool = new FailingPool(BLOCK, 2);
      const pass = new ListPass(pool, options);
      await expect(run(pass)).rejects.toThrow('no room on the disk');
      expect(pool.running).toBe(0);
      expect(await pass.missingFrom(7)).toBeLessThanOrEqual(BLOCK);
      await run(pass, (await pass.missingFrom(7))!);
      expect((await listsByUser()).every((list) => list !== undefined)).toBe(true);
      expect(await pass.missingFrom(7)).toBeUndefined();
      await pool.close();
    });
  });

  it('over nobody makes nothing and is over', async () => {
    const pass = new ListPass(pools[0]!, options);
    const told: number[] = [];
    expect(await pass.run(GENERATION, live, { from: 0, to: 0 }, blocks(), (_, done) => told.push(done))).toBe(
      0,
    );
    expect(told).toEqual([0]);
    expect(await pass.missingFrom(7)).toBeUndefined();
  });
});
