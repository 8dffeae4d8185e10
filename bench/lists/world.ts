import { join } from 'node:path';
import { ListPass } from '../../src/background/lists/list-pass.ts';
import { WorkerPool } from '../../src/background/pool/worker-pool.ts';
import { defaultConfig } from '../../src/config/config.ts';
import type { Item } from '../../src/domain/entities.ts';
import { createRandom, type Random } from '../../src/domain/random.ts';
import { formatTimestamp } from '../../src/domain/rfc3339.ts';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import { paddedFactors } from '../../src/kernel/scratch-sizes.ts';
import { sharedF32, sharedU32 } from '../../src/memory/shared-arrays.ts';
import { type PlacedModel, placeModel } from '../../src/model/als/mf-scorer.ts';
import { type PlacedFm, placeFm } from '../../src/model/click/fm-scorer.ts';
import { type PlacedSums, placeSums } from '../../src/model/neighbors/row-sums.ts';
import { createLogger } from '../../src/platform/log/log.ts';
import { useCompiledThreads } from '../../src/platform/program/thread-entry.ts';
import { KINDS, RANKING_FEATURES } from '../../src/recommend/models/feature-names.ts';
import { listSettings } from '../../src/recommend/sources/list-settings.ts';
import { InMemoryState } from '../../src/recommend/state/in-memory-state.ts';
import { openStore } from '../../src/store/open/open-store.ts';
import { storeOptions, storePaths } from '../../src/store/open/store-options.ts';
import { madeLists } from '../../src/threads/make-lists.ts';
import type { PlacedGeneration } from '../../src/threads/messages.ts';
import { type FactorShape, learnedFactors } from './learned-factors.ts';

const FACTORS = 64;
const CLICK_FACTORS = 8;
/** Entries of a row in the tables of items. */
const ENTRIES = 100;
const LIST_LENGTH_MAX = 10_100;
const BATCH = 10_000;
const NOW_MS = Date.UTC(2024, 0, 1);
const DAY_MS = 86_400_000;

// Threads of the build: one that reads TypeScript hangs now and then while it starts on a busy machine.
useCompiledThreads(new URL('../../src/', import.meta.url), new URL('../../dist/', import.meta.url));

/** A store with users and items, made-up models of them, and what makes lists. */
export interface BenchWorld {
  /** Makes the lists of the users with rows in [from, to). @returns the hash of these lists and of what came before */
  make(from: number, to: number, hash: number): number;
  close(): Promise<void>;
}

/** Opens such a world, of users with so many likes on average: models of random numbers, which cost what learned ones do, and a ranking by all of them. */
export async function openListWorld(
  folder: string,
  {
    users,
    items,
    likes,
    factors,
    heads,
  }: Record<'users' | 'items' | 'likes', number> & {
    readonly factors: FactorShape;
    readonly heads: boolean;
  },
): Promise<BenchWorld> {
  const config = defaultConfig({
    database: {
      data_store: `lmdb://${join(folder, 'data')}`,
      cache_store: `lmdb://${join(folder, 'cache')}`,
      sync: 'commit',
    },
    recommend: { data_source: { positive_feedback_types: ['like'], read_feedback_types: ['read'] } },
  });
  const clock = () => NOW_MS;
  const stores = openStore(storeOptions(config, clock));
  await fill(stores.data, users, items, likes);
  const reads = stores.data.local!;
  const live = new InMemoryState({
    reads,
    clock,
    positiveTypes: ['like'],
    spans: { windowMs: 30 * DAY_MS, ttlMs: Number.POSITIVE_INFINITY },
    itemTtlMs: Number.POSITIVE_INFINITY,
    newestCount: false,
    countsStorage: { read: async () => undefined, renew: async () => undefined },
    onTrouble: () => {},
  });
  await live.load(reads, users * likes);
  const pool = new WorkerPool(1);
  const pass = new ListPass(pool, {
    ...storePaths(config),
    positiveTypes: ['like'],
    positiveTtlMs: Number.POSITIVE_INFINITY,
    userNeighborType: 'auto',
    settings: listSettings(config),
    versioned: false,
    youngMs: 0,
    clockErrorMs: 0,
    states: stores.cache,
    clock,
    log: createLogger('error'),
  });
  const plan = await pass.planner.plan(generationOf(users, items, live, { factors, heads }), live);
  return {
    make(from, to, hash) {
      const userRows = Uint32Array.from({ length: to - from }, (_, at) => from + at);
      const { lists } = madeLists({ plan, slot: 0, userRows, madeMs: NOW_MS, untilMs: NOW_MS });
      let mixed = hash;
      for (const { itemRows, scores } of lists) {
        const words = new Uint32Array(scores.buffer);
        for (let at = 0; at < itemRows.length; at++)
          mixed = (Math.imul(mixed ^ itemRows[at]!, 0x01000193) ^ words[at]!) >>> 0;
      }
      return mixed;
    },
    async close() {
      live.close();
      await pool.close();
      await stores.cache.close();
      await stores.data.close();
    },
  };
}

async function fill(
  data: ReturnType<typeof openStore>['data'],
  users: number,
  items: number,
  likes: number,
): Promise<void> {
  const random = createRandom(1);
  const put = async (kind: 'putItems' | 'putFeedback', records: readonly object[]) => {
    for (let from = 0; from < records.length; from += BATCH) {
      const json = new TextEncoder().encode(JSON.stringify(records.slice(from, from + BATCH)));
      const batch = { json, single: false };
      await data.write(kind === 'putItems' ? { kind, batch } : { kind, overwrite: false, batch });
    }
  };
  const catalogue: Partial<Item>[] = Array.from({ length: items }, (_, at) => ({
    ItemId: `item-${at}`,
    Labels: [`genre-${random.below(20)}`, `maker-${Math.floor(1000 * random.float() ** 2)}`],
    Timestamp: formatTimestamp(NOW_MS - random.below(3650) * DAY_MS),
  }));
  await put('putItems', catalogue);
  const feedback = Array.from({ length: users * likes }, () => ({
    FeedbackType: 'like',
    UserId: `user-${Math.floor(users * random.float() ** 1.5)}`,
    ItemId: `item-${Math.floor(items * random.float() ** 3)}`,
    Timestamp: formatTimestamp(NOW_MS - random.below(720) * DAY_MS),
  }));
  await put('putFeedback', feedback);
}

function generationOf(
  users: number,
  items: number,
  live: InMemoryState,
  { factors, heads }: { readonly factors: FactorShape; readonly heads: boolean },
): PlacedGeneration {
  const random = createRandom(2);
  const als = alsModel(users, items, random, factors);
  const weights = RANKING_FEATURES.map((name) => (name === 'age' ? -0.1 : 0.1 + random.float()));
  return {
    number: 1,
    ranking: {
      ...{ name: 'all', bias: -3, weights, totals: live.popularity.totals(), knowsMs: NOW_MS },
      byKind: Array.from({ length: KINDS }, () => ({ bias: -3, weights })),
    },
    parts: {
      als: heads ? als : { ...als, headed: false },
      click: clickModel(users, items, random),
      slim: table(items, random, (at) => 0.3 / (1 + at)),
      itemKnn: table(items, random, (at) => 1 / (1 + at)),
      sequence: table(items, random, (at) => 1 / (2 + at), 2),
    },
  };
}

function normals(length: number, scale: number, random: Random): Float32Array {
  return Float32Array.from({ length }, () => scale * random.normal());
}

function alsModel(userCount: number, itemCount: number, random: Random, shape: FactorShape): PlacedModel {
  const f = paddedFactors(FACTORS);
  const header = {
    factors: FACTORS,
    regularization: 0.01,
    unobservedWeight: 0.1,
    regularizationExponent: 1,
    seed: 1,
    fingerprint: 1,
    quality: {},
  };
  const factors = {
    userFactors: learnedFactors(shape, { rows: userCount, f, largest: 0.8, of: 'users' }, random),
    itemFactors: learnedFactors(shape, { rows: itemCount, f, largest: 0.8, of: 'items' }, random),
  };
  return placeModel({ ...header, userCount, itemCount, ...factors }, loadKernels, 3, LIST_LENGTH_MAX);
}

function clickModel(userCount: number, itemCount: number, random: Random): PlacedFm {
  const features = userCount + itemCount;
  const header = {
    factors: CLICK_FACTORS,
    epochs: 1,
    bias: -1,
    calibration: { slope: 1, offset: 0 },
    positiveRate: 0.5,
    negativesPerPositive: 1,
    seed: 1,
    fingerprint: 1,
    quality: {},
    userLabels: [],
    itemLabels: [],
  };
  const linear = normals(features, 0.1, random);
  const vectors = normals(features * paddedFactors(CLICK_FACTORS), 0.1, random);
  return placeFm({ ...header, userCount, itemCount, linear, vectors }, () => [], 3);
}

/** Rows that speak for the popular more often than for others, as learned ones do. */
function table(rowCount: number, random: Random, scoreAt: (at: number) => number, kinds = 1): PlacedSums {
  const starts = sharedU32(rowCount + 1);
  const rows = sharedU32(rowCount * ENTRIES);
  const scores = sharedF32(rowCount * ENTRIES);
  for (let row = 0; row < rowCount; row++) {
    const others = new Set<number>();
    while (others.size < Math.min(ENTRIES, rowCount - 1))
      others.add(Math.floor(rowCount * random.float() ** 2));
    let at = 0;
    for (const other of others) {
      rows[starts[row]! + at] = other;
      scores[starts[row]! + at] = scoreAt(at++);
    }
    starts[row + 1] = starts[row]! + at;
  }
  const table = { rowCount, fingerprint: 1, recall: 1, starts, rows, scores };
  return placeSums(table, { slots: 3, listLengthMax: LIST_LENGTH_MAX }, { kinds });
}
