import { describe, expect, it } from 'vitest';
import { buildInteractions } from '../../../src/dataset/interactions.ts';
import { createRandom } from '../../../src/domain/random.ts';
import type { Kernels } from '../../../src/kernel/kernels.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { BITMAPS_MAX } from '../../../src/kernel/scratch-sizes.ts';
import {
  createNeighborTask,
  finishTasks,
  runNeighborTask,
} from '../../../src/model/neighbors/fill-neighbor-table.ts';
import { type Incidence, incidenceOfLabels, usersByItems } from '../../../src/model/neighbors/incidence.ts';
import { planIndex, recallOf } from '../../../src/model/neighbors/index-plan.ts';
import { type PlacedSimilarity, placeSimilarity } from '../../../src/model/neighbors/memory-layout.ts';
import { createDraft } from '../../../src/model/neighbors/neighbor-table.ts';
import { SimilaritySearch } from '../../../src/model/neighbors/similarity-search.ts';

const USERS = 1000;
const K = 10;

/** Users with tastes: half of what a user likes is of its kind, the rest is what everybody likes. */
function tastes() {
  const random = createRandom(5);
  const [kinds, itemsOfKind, hits] = [50, 40, 12];
  const userRows: number[] = [];
  const itemRows: number[] = [];
  for (let user = 0; user < USERS; user++) {
    for (let at = 0; at < 10; at++) {
      const own = hits + (user % kinds) * itemsOfKind + random.below(itemsOfKind);
      userRows.push(user);
      itemRows.push(at % 2 === 0 ? own : random.below(hits));
    }
  }
  const itemCount = hits + kinds * itemsOfKind;
  return buildInteractions({ userCount: USERS, itemCount, userRows, itemRows });
}

/** Films with one or two genres of six, and every third with a tag of its own few. */
function films() {
  const random = createRandom(6);
  return incidenceOfLabels((row) => {
    const genres = [`genre ${random.below(6)}`, `genre ${random.below(6)}`];
    return row % 3 === 0 ? [...genres, `tag ${random.below(200)}`] : genres;
  }, 2000);
}

const worlds: Readonly<Record<string, Incidence>> = {
  users: usersByItems(tastes()),
  films: films(),
  catalogue: catalogue(3000, 8),
  'labels beyond what is told apart': catalogue(1500, 80),
};

function placedOf(incidence: Incidence, reserveIndex = true): [PlacedSimilarity, Kernels] {
  const placed = placeSimilarity(incidence, { reserveIndex });
  return [placed, loadKernels(placed.memory)];
}

/** A catalogue: a category of a few, a brand, tags of which a few are common and most rare; some rows are alike. */
function catalogue(rows: number, tagsMax: number) {
  const random = createRandom(7);
  const power = (kinds: number) => Math.floor(kinds * random.float() ** 3);
  return incidenceOfLabels((row) => {
    if (row % 11 === 0) return ['category 0', 'tag 0'];
    if (row % 97 === 0) return [];
    const tags = Array.from({ length: random.below(tagsMax) }, () => `tag ${power(400)}`);
    return [`category ${random.below(10)}`, `brand ${power(100)}`, ...tags];
  }, rows);
}

/** Such that small worlds are found worth an index. */
const options = {
  enableIndex: true,
  indexRecall: 0.8,
  k: K,
  seed: 1,
  exactAdditionsMax: 1000,
  costShareMax: Number.POSITIVE_INFINITY,
};

describe.each(Object.keys(worlds))('an index of %s', (name) => {
  const [placed, kernels] = placedOf(worlds[name]!);
  const plan = planIndex(placed, kernels, options);
  const search = new SimilaritySearch(placed, kernels, 0);
  const indexed = new SimilaritySearch(placed, kernels, 0, 1);

  it('has bitmaps of the frequent elements', () => {
    expect(plan).toMatchObject({ exact: false, recall: 1 });
    expect(plan.bitmapCount).toBeGreaterThan(5);
    expect(plan.bitmapCount).toBeLessThanOrEqual(BITMAPS_MAX);
    expect(plan.costShare).toBeGreaterThan(0);
  });

  it.each([1, K, 100])('finds the %i that comparing all pairs finds, with the same scores', (k) => {
    for (let row = 0; row < search.placed.rowCount; row++) {
      expect(indexed.neighborsOf(row, k)).toEqual(search.neighborsOf(row, k));
    }
  });

  it('finds those of a row that was not placed', () => {
    const { rows } = worlds[name]!;
    for (let row = 0; row < 200; row++) {
      const elements = [...rows.indices.subarray(rows.indptr[row], rows.indptr[row + 2])];
      expect(indexed.neighborsOfElements(elements, K, row)).toEqual(
        search.neighborsOfElements(elements, K, row),
      );
    }
  });

  it('is planned alike for the same seed', () => {
    expect(planIndex(...placedOf(worlds[name]!), options)).toEqual(plan);
  });
});

describe('planIndex', () => {
  it('stays exact when switched off, without room, or when that is fast enough', () => {
    const exact = { exact: true, recall: 1 };
    const incidence = worlds.films!;
    expect(planIndex(...placedOf(incidence), { ...options, enableIndex: false })).toMatchObject(exact);
    expect(planIndex(...placedOf(incidence, false), options)).toMatchObject(exact);
    expect(planIndex(...placedOf(incidence), { ...options, exactAdditionsMax: 1e12 })).toMatchObject(exact);
    expect(planIndex(...placedOf(incidence), { ...options, costShareMax: 0.1 })).toMatchObject(exact);
    const { exactAdditionsMax: _most, ...defaults } = options;
    expect(planIndex(...placedOf(incidence), defaults)).toMatchObject(exact);
  });

  it('stays exact where nearly all elements of the rows are rare', () => {
    const random = createRandom(8);
    const different = incidenceOfLabels(
      () => Array.from({ length: 5 }, () => `label ${random.below(4000)}`),
      2000,
    );
    const { costShareMax: _most, ...defaults } = options;
    expect(planIndex(...placedOf(different), defaults)).toMatchObject({ exact: true });
  });

  it('fills a table through the threads as the exact search does', () => {
    const tableWith = (enableIndex: boolean) => {
      const [placed, kernels] = placedOf(worlds.films!);
      const plan = planIndex(placed, kernels, { ...options, enableIndex });
      const task = createNeighborTask(placed, createDraft(placed.rowCount, K), { plan });
      expect(runNeighborTask(task, kernels, 0)).toBe(true);
      return finishTasks([task], 0);
    };
    expect(tableWith(true)).toEqual(tableWith(false));
  });
});

describe('recallOf', () => {
  const ranked = (rows: number[], scores: number[]) => ({
    rows: Uint32Array.from(rows),
    scores: Float32Array.from(scores),
  });

  it('counts what scores as high as the true list does', () => {
    const truth = ranked([1, 2, 3, 4], [0.9, 0.8, 0.7, 0.6]);
    expect(recallOf(truth, truth)).toBe(1);
    expect(recallOf(truth, { scores: Float32Array.of(0.9, 0.7, 0.5) })).toBe(0.5);
    expect(recallOf(truth, { scores: Float32Array.of(0.9, 0.8, 0.7, 0.6, 0.6) })).toBe(1);
    expect(recallOf(ranked([], []), ranked([], []))).toBe(1);
  });
});
