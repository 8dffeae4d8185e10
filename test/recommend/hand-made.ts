import { loadKernels } from '../../src/kernel/load-kernels.ts';
import type { Ranked } from '../../src/memory/ranked-rows.ts';
import { filled, sharedF32, sharedU32 } from '../../src/memory/shared-arrays.ts';
import type { CollaborativeModel } from '../../src/model/als/collaborative-model.ts';
import { openSums, placeSums } from '../../src/model/neighbors/row-sums.ts';
import type { NeighborLists, SummedLists } from '../../src/model/neighbors/summed-lists.ts';
import type { OpenedParts } from '../../src/model/registry.ts';
import type { WantedItems } from '../../src/recommend/catalogue/item-filter.ts';
import { History } from '../../src/recommend/history/history.ts';
import { ListMaker } from '../../src/recommend/lists/maker/list-maker.ts';
import {
  KINDS,
  RANKING_FEATURES,
  type Ranking,
  type RankingFeature,
} from '../../src/recommend/models/feature-names.ts';
import type { Generation } from '../../src/recommend/models/generation-slot.ts';
import { NO_COLD_ITEMS } from '../../src/recommend/neighbors/cold-item-index.ts';
import type { ItemPopularity } from '../../src/recommend/popularity/popularity-counts.ts';
import { POPULARITY_SCALES } from '../../src/recommend/popularity/popularity-scales.ts';
import type { ListInputs } from '../../src/recommend/sources/list-inputs.ts';
import type { ListSettings } from '../../src/recommend/sources/list-settings.ts';
import type { FeedbackColumns, LocalReads } from '../../src/store/data-store.ts';

/** Feedback types of the hand-made world. */
export const LIKE = 0;
export const READ = 1;
export const isPositive = (type: number) => type === LIKE;

/** A record of feedback; the type is a like and the time 0 unless told. */
export interface Record {
  readonly item: number;
  readonly type?: number;
  readonly timeMs?: number;
}

/** Local reads of users' feedback alone: `users[row]` are the records of the user at that row. */
export function readsOf(users: readonly (readonly Record[])[]): LocalReads {
  const reads: Partial<LocalReads> = {
    feedbackAhead: () => undefined,
    readUserFeedback(userRow: number, out: FeedbackColumns) {
      out.clear();
      const records = [...(users[userRow] ?? [])].sort(
        (a, b) => a.item - b.item || (a.type ?? LIKE) - (b.type ?? LIKE),
      );
      for (const { item, type = LIKE, timeMs = 0 } of records) out.push(userRow, item, type, timeMs);
    },
  };
  return reads as LocalReads;
}

/** The history of one user, all of it in effect. */
export function historyOf(records: readonly Record[], userRow = 0): History {
  const users: (readonly Record[])[] = [];
  users[userRow] = records;
  const history = new History(readsOf(users));
  history.load(userRow, Number.POSITIVE_INFINITY);
  return history;
}

/** A model in which item i has the score `scores[i]` for whoever likes anything. */
export function scoredModel(scores: readonly number[]): CollaborativeModel {
  return {
    factors: 1,
    addDirection: () => {},
    foldIn: (liked) => (liked.length > 0 ? Float32Array.of(1) : undefined),
    *decompose() {
      yield;
      return undefined;
    },
    knows: () => true,
    scoreItems: (_, rows) => Float32Array.from(rows, (row) => scores[row] ?? 0),
    topItemsOfMany: () => {
      throw new Error('asked for one user at a time');
    },
    topItems(_, k, accept) {
      const rows = scores.map((_, row) => row).filter(accept);
      rows.sort((a, b) => scores[b]! - scores[a]! || a - b);
      return { rows: rows.slice(0, k), scores: rows.slice(0, k).map((row) => scores[row]!) };
    },
  };
}

type Entries = readonly [number, number][];

/** Neighbors of each item, best first, as [row, score]. */
export function neighborLists(of: (itemRow: number) => Entries): NeighborLists {
  return {
    neighborsAt(itemRow) {
      const entries = of(itemRow);
      return {
        rows: Uint32Array.from(entries, ([row]) => row),
        scores: Float32Array.from(entries, ([, score]) => score),
      };
    },
  };
}

/** The same to be summed; of rows below 512. */
export function summedLists(of: (itemRow: number) => Entries): SummedLists {
  const rowCount = 512;
  const lists = Array.from({ length: rowCount }, (_, row) => of(row).filter(([other]) => other < rowCount));
  const starts = sharedU32(rowCount + 1);
  lists.forEach((list, row) => {
    starts[row + 1] = starts[row]! + list.length;
  });
  const entries = lists.flat();
  const rows = filled(
    sharedU32(entries.length),
    entries.map(([row]) => row),
  );
  const scores = filled(
    sharedF32(entries.length),
    entries.map(([, score]) => score),
  );
  const table = { rowCount, fingerprint: 1, recall: 1, starts, rows, scores };
  const placed = placeSums(table, { slots: 1, listLengthMax: 1000 }, { kinds: 2 });
  return { ...neighborLists(of), sums: openSums(placed, loadKernels, 0) };
}

/** A generation of which the other parts are missing. */
export function generation({
  number = 1,
  ranking,
  ...parts
}: OpenedParts & Partial<Pick<Generation, 'number' | 'ranking'>>): Generation {
  return { number, ranking, parts };
}

/** What is told of the popularity; the rest is nothing. A scale's total is the sum of its values. */
export interface HandMadePopularity {
  readonly window?: readonly number[];
  readonly ever?: readonly number[];
  /** Values by scale and item row. */
  readonly scales?: readonly (readonly number[])[];
  readonly asOfMs?: number;
}

/** Counts of positive feedback by item row. */
export function popularity(parts: HandMadePopularity = {}): ItemPopularity {
  const counts = (values: readonly number[] = []) => Uint32Array.from(values);
  const scales = POPULARITY_SCALES.map((_, scale) => parts.scales?.[scale] ?? []);
  return {
    window: counts(parts.window),
    ever: counts(parts.ever),
    scales: scales.map((values) => ({
      values: Float32Array.from(values),
      total: values.reduce((sum, value) => sum + value, 0),
    })),
    asOfMs: parts.asOfMs ?? 0,
  };
}

/** A ranking by some features; counts are taken as they are where `totals` are those of the popularity. */
export function ranking(
  weights: { readonly [Name in RankingFeature]?: number },
  { scales }: ItemPopularity,
  bias = 0,
): Ranking {
  const all = { bias, weights: RANKING_FEATURES.map((name) => weights[name] ?? 0) };
  return {
    ...{ name: 'hand-made', knowsMs: 0, ...all },
    totals: scales.map(({ total }) => total),
    byKind: Array.from({ length: KINDS }, () => all),
  };
}

/** A world in which every item may be listed and nothing is known but what `parts` say. */
export function world(parts: Partial<ListInputs> = {}): ListInputs {
  return {
    generation: undefined,
    popularity: popularity(),
    latestRows: () => [],
    popularRows: () => [],
    trendingRows: () => [],
    timestampMsAt: () => Number.NaN,
    isListable: () => true,
    userBased: () => [],
    labelsOf: () => [],
    coldItems: NO_COLD_ITEMS,
    ...parts,
  };
}

/** Every recommender off, ten entries, nothing put back or in. */
export function settings(parts: Partial<ListSettings> = {}): ListSettings {
  return {
    latest: false,
    popular: false,
    user_based: false,
    item_based: false,
    collaborative: false,
    order: 'collaborative',
    cacheSize: 10,
    proposals: parts.cacheSize ?? 10,
    seedItems: 10,
    replacement: undefined,
    explore: { popular: 0, latest: 0 },
    discovery: 0,
    seed: 1,
    ...parts,
  };
}

export function make(
  someSettings: Partial<ListSettings>,
  someWorld: Partial<ListInputs>,
  history: History,
  filter?: WantedItems,
): Ranked | undefined {
  return new ListMaker(settings(someSettings), world(someWorld), isPositive).make(history, filter);
}
