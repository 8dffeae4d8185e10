import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { ListPass, type ListPassOptions } from '../../src/background/lists/list-pass.ts';
import type { PassStart } from '../../src/background/lists/own-courses.ts';
import { WorkerPool } from '../../src/background/pool/worker-pool.ts';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import { placeModel } from '../../src/model/als/mf-scorer.ts';
import { createLogger } from '../../src/platform/log/log.ts';
import { ActiveUsers } from '../../src/recommend/lists/active-users.ts';
import { InMemoryState } from '../../src/recommend/state/in-memory-state.ts';
import type { UserList } from '../../src/store/cache-store.ts';
import type { Stores } from '../../src/store/open/open-store.ts';
import { madeLists } from '../../src/threads/make-lists.ts';
import type { JobKind, Jobs, ListsJob, PlacedGeneration } from '../../src/threads/messages.ts';
import { settings } from '../recommend/hand-made.ts';
import { NOW_MS, openIn, putFeedback, putItems, storeOptions, tempFolder } from '../store/helpers.ts';

/** Four blocks of users and a rest. */
const USERS = 1100;
const BLOCK = 256;
const ITEMS = 30;
/** Models that know nothing: lists are of popular and latest items in an order of each user's own. */
const GENERATION: PlacedGeneration = { number: 7, ranking: undefined, parts: {} };

const pools = [1, 2].map((threads) => new WorkerPool(threads));
afterAll(async () => {
  for (const pool of pools) await pool.close();
});

let stores: Stores;
let live: InMemoryState;
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
  live = new InMemoryState({
    reads,
    clock,
    positiveTypes: ['like'],
    spans: { windowMs: 1e9, ttlMs: Number.POSITIVE_INFINITY },
    itemTtlMs: Number.POSITIVE_INFINITY,
    newestCount: true,
    countsStorage: { read: async () => undefined, renew: async () => undefined },
    onTrouble: () => {},
  });
  await live.load(reads, USERS);
  options = {
    dataPath,
    cachePath,
    positiveTypes: ['like'],
    positiveTtlMs: Number.POSITIVE_INFINITY,
    userNeighborType: 'auto',
    settings: settings({ popular: true, latest: true, cacheSize: ITEMS }),
    versioned: false,
    youngMs: 0,
    clockErrorMs: 0,
    states: stores.cache,
    clock,
    log: createLogger('silent', { write: () => {} }),
  };
});

/**
 * Notes the first user of each block whose lists are stored, and the ends of passes.
 * @param leftOut users of whom no list is needed
 * @param asked users that are asked for
 */
function listener(leftOut: readonly number[] = [], asked: number[] = []) {
  const blocks: number[] = [];
  const passes: number[] = [];
  return {
    blocks,
    passes,
    beginPass: () => () => void passes.push(0),
    takeRenewals: (limit: number) => Uint32Array.from(asked.splice(0, limit)),
    beginBlock: (userRows: Uint32Array) => ({
      userRows: userRows.filter((row) => !leftOut.includes(row)),
      end: (areStored: boolean) => void (areStored && blocks.push(userRows[0]!)),
    }),
    endPass: (beganMs: number) => void passes.push(beganMs),
  };
}

/** Everybody, in the order of their rows. */
const everybody = () => new ActiveUsers(0, () => NOW_MS).order(USERS);
const missing = (pass: ListPass, generation = 7) => pass.missingFrom(generation, listener());
const at = (userRow: number): PassStart => ({ position: { period: 0, userRow }, beganMs: NOW_MS });

/** What was told of the pass, and how many lists it made. */
async function run(
  pass: ListPass,
  from: PassStart | 'all' = 'all',
  onTold: (done: number) => void = () => {},
  order = everybody(),
  heard = listener(),
) {
  const told: [stage: string, done: number, total: number][] = [];
  const made = await pass.run(GENERATION, live, order, from, heard, (...progress) => {
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

  it('knows in all of its lists of the items that there were when it was planned, and of no later ones', async () => {
    let nowMs = NOW_MS;
    await run(new ListPass(pools[0]!, { ...options, clock: () => nowMs }), 'all', () => {
      nowMs += 1000;
    });
    const made = await listsByUser();
    expect(new Set(made.map((list) => list!.knowsMs))).toEqual(new Set([NOW_MS]));
    expect(made.at(-1)!.madeMs).toBeGreaterThan(NOW_MS);
  });

  it('publishes each block as soon as it is done', async () => {
    const known: boolean[][] = [];
    await run(new ListPass(pools[0]!, options), 'all', () => {
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
    expect(await missing(pass)).toBe('all');
    await run(pass);
    expect(await missing(pass)).toBeUndefined();
  });

  it('starts anew for another generation or other settings', async () => {
    await run(new ListPass(pools[0]!, options));
    expect(await missing(new ListPass(pools[0]!, options), 8)).toBe('all');
    const changed = { ...options, settings: settings({ popular: true, latest: true, cacheSize: ITEMS - 1 }) };
    expect(await missing(new ListPass(pools[0]!, changed))).toBe('all');
    expect(await missing(new ListPass(pools[0]!, options), 7)).toBeUndefined();
  });

  it('that was stopped leaves a mark, and goes on from there', async () => {
    const pass = new ListPass(pools[0]!, options);
    const first = await run(pass, 'all', (done) => {
      if (done === 2 * BLOCK) pass.stop();
    });
    expect(first.lists).toBe(2 * BLOCK);
    expect((await listsByUser()).map((list) => list !== undefined)).toEqual(
      Array.from({ length: USERS }, (_, row) => row < 2 * BLOCK),
    );

    const next = new ListPass(pools[0]!, options);
    const from = await missing(next);
    expect(from).toEqual(at(2 * BLOCK));
    const second = await run(next, from);
    expect(second.lists).toBe(USERS - 2 * BLOCK);
    expect(second.told[0]).toEqual(['Writing recommendations', 2 * BLOCK, USERS]);
    expect(second.told.at(-1)).toEqual(['Writing recommendations', USERS, USERS]);
    expect((await listsByUser()).every((list) => list !== undefined)).toBe(true);
    expect(await missing(next)).toBeUndefined();
  });

  it('in two threads that was stopped goes on before every list that is missing', async () => {
    const pass = new ListPass(pools[1]!, options);
    await run(pass, 'all', (done) => {
      if (done > 0) pass.stop();
    });
    const next = new ListPass(pools[1]!, options);
    const from = (await missing(next)) as PassStart;
    const firstMissing = (await listsByUser()).indexOf(undefined);
    expect(firstMissing).toBeGreaterThan(0);
    expect(from.position.userRow).toBeLessThanOrEqual(firstMissing);
    await run(next, from);
    expect((await listsByUser()).every((list) => list !== undefined)).toBe(true);
  });

  it('makes the same lists in one thread and in two', async () => {
    await run(new ListPass(pools[0]!, options));
    const one = await listsByUser();
    await stores.cache.putLists(
      [],
      Array.from({ length: USERS }, (_, row) => row),
    );
    const { told } = await run(new ListPass(pools[1]!, options));
    expect(told.at(-1)).toEqual(['Writing recommendations', USERS, USERS]);
    expect(await listsByUser()).toEqual(one);
    // The order of a list is the user's own.
    expect(one[0]!.itemRows).not.toEqual(one[ITEMS]!.itemRows);
  });

  it('makes the same list for a user alone and among others', async () => {
    const factors = (rows: number) =>
      Float32Array.from({ length: rows * 4 }, (_, at) => Math.sin(at * at + 1));
    const header = { factors: 4, regularization: 0.1, unobservedWeight: 0.1, regularizationExponent: 1 };
    const shape = { userCount: 0, itemCount: ITEMS, seed: 1, fingerprint: 1, quality: {} };
    const parameters = { userFactors: new Float32Array(0), itemFactors: factors(ITEMS) };
    const als = placeModel({ ...header, ...shape, ...parameters }, (memory) => loadKernels(memory), 1, 100);
    const collaborative = { ...options, settings: settings({ collaborative: true, cacheSize: 7 }) };
    const plan = await new ListPass(pools[0]!, collaborative).planner.plan(
      { ...GENERATION, parts: { als } },
      live,
    );
    const listsOf = (userRows: Uint32Array) =>
      madeLists({ plan, slot: 0, userRows, madeMs: NOW_MS, untilMs: NOW_MS }).lists;
    const users = Uint32Array.from({ length: 150 }, (_, user) => user * 7);
    const together = listsOf(users);
    expect(together).toHaveLength(150);
    expect(new Set(together.map(({ itemRows }) => itemRows.join())).size).toBeGreaterThan(10);
    expect(Array.from(users, (user) => listsOf(Uint32Array.of(user))[0])).toEqual(together);
  });

  it('makes the lists of active users alone, those seen last first, and tells when it began', async () => {
    const DAY_MS = 86_400_000;
    let nowMs = 0;
    const active = new ActiveUsers(7 * DAY_MS, () => nowMs);
    const see = async (daysAgo: number, userRows: readonly number[]) => {
      nowMs = NOW_MS - daysAgo * DAY_MS;
      active.order(0);
      for (const userRow of userRows) active.note(userRow);
    };
    await see(10, [5, 900]);
    await see(2, [1000, 3]);
    await see(0, [900, 7, 3]);
    const heard = listener();
    const order = active.order(USERS);
    const { lists, told } = await run(new ListPass(pools[0]!, options), 'all', () => {}, order, heard);
    expect(lists).toBe(4);
    expect(told.map(([, done, total]) => [done, total])).toEqual([
      [0, 4],
      [3, 4],
      [4, 4],
    ]);
    expect(heard).toMatchObject({ blocks: [3, 1000], passes: [0, NOW_MS] });
    const made = (await listsByUser()).flatMap((list) => list?.userRow ?? []);
    expect(made).toEqual([3, 7, 900, 1000]);
  });

  it('makes no list that is not needed, and those first that are asked for, in turns with the others', async () => {
    const heard = listener([1, 2, BLOCK], [1000, 1001, 1002]);
    const { lists, told } = await run(new ListPass(pools[0]!, options), 'all', () => {}, everybody(), heard);
    // They are asked for once and come in their turn, for nobody leaves them out here.
    expect(lists).toBe(USERS);
    expect(heard.blocks).toEqual([1000, 0, BLOCK, 2 * BLOCK, 3 * BLOCK, 4 * BLOCK]);
    expect(told.at(-1)).toEqual(['Writing recommendations', USERS, USERS]);
    const made = await listsByUser();
    expect([1, 2, BLOCK].map((row) => made[row])).toEqual([undefined, undefined, undefined]);
    expect(made.filter((list) => list !== undefined)).toHaveLength(USERS - 3);
  });

  it('gives way to requests as long as it has a fifth of the processor time that it wants', async () => {
    // Milliseconds that the threads of the pieces had of 1000 that they wanted.
    const had = [500, 0, 0, 100, 900, 900];
    const urgent: boolean[] = [];
    class BusyPool extends WorkerPool {
      override async run<Kind extends JobKind>(
        _job: unknown,
        atFullPriority = false,
      ): Promise<Jobs[Kind]['answer']> {
        urgent.push(atFullPriority);
        const processor = { ranMs: had[urgent.length - 1]!, wantedMs: 1000 };
        // It gives back the second half of a block.
        return { stored: 128, users: 128, processor } as Jobs[Kind]['answer'];
      }
    }
    const pool = new BusyPool(1);
    // Three blocks.
    await run(new ListPass(pool, options), at(USERS - 3 * BLOCK));
    await pool.close();
    expect(urgent).toEqual([false, false, false, true, true, false]);
  });

  it('has one of its threads at a time give way no longer, however many are starved', async () => {
    let urgent = 0;
    let [most, pieces] = [0, 0];
    class StarvedPool extends WorkerPool {
      override async run<Kind extends JobKind>(
        _job: unknown,
        atFullPriority = false,
      ): Promise<Jobs[Kind]['answer']> {
        if (atFullPriority) {
          pieces++;
          most = Math.max(most, ++urgent);
        }
        await new Promise((resolve) => setImmediate(resolve));
        if (atFullPriority) urgent--;
        return { stored: 16, users: 16, processor: { ranMs: 10, wantedMs: 1000 } } as Jobs[Kind]['answer'];
      }
    }
    const pool = new StarvedPool(4);
    await run(new ListPass(pool, options));
    await pool.close();
    expect(most).toBe(1);
    // Each thread that is starved has its turns.
    expect(pieces).toBeGreaterThan(USERS / 16 / 5);
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
        atFullPriority?: boolean,
      ): Promise<Jobs[Kind]['answer']> {
        this.running++;
        try {
          const answer = await super.run<Kind>(job, atFullPriority);
          const isChosen = job.kind === 'lists' && (job as ListsJob).userRows[0] === this.fromUserRow;
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
      const from = (await missing(pass)) as PassStart;
      expect(from.position.userRow).toBeLessThanOrEqual(BLOCK);
      await run(pass, from);
      expect((await listsByUser()).every((list) => list !== undefined)).toBe(true);
      expect(await missing(pass)).toBeUndefined();
      await pool.close();
    });
  });

  it('over nobody makes nothing and is over', async () => {
    const pass = new ListPass(pools[0]!, options);
    const told: number[] = [];
    const nobody = new ActiveUsers(0, () => NOW_MS).order(0);
    const made = await pass.run(GENERATION, live, nobody, 'all', listener(), (_, done) => told.push(done));
    expect(made).toBe(0);
    expect(told).toEqual([0]);
    expect(await missing(pass)).toBeUndefined();
  });
});
