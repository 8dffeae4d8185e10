import { describe, expect, it } from 'vitest';
import { buildInteractions } from '../../../src/dataset/interactions.ts';
import { createRandom } from '../../../src/domain/random.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import {
  createNeighborTask,
  finishTasks,
  runNeighborTask,
} from '../../../src/model/neighbors/fill-neighbor-table.ts';
import { type Incidence, incidenceOfLabels, usersByItems } from '../../../src/model/neighbors/incidence.ts';
import { planIndex, recallOf } from '../../../src/model/neighbors/index-plan.ts';
import { IndexedSearch } from '../../../src/model/neighbors/indexed-search.ts';
import { placeSimilarity } from '../../../src/model/neighbors/memory-layout.ts';
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

const worlds: Readonly<Record<string, Incidence>> = { users: usersByItems(tastes()), films: films() };

function searchOf(incidence: Incidence, reserveIndex = true): SimilaritySearch {
  const placed = placeSimilarity(incidence, { reserveIndex });
  return new SimilaritySearch(placed, loadKernels(placed.memory), 0);
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
  const search = searchOf(worlds[name]!);
  const plan = planIndex(search, options);
  const indexed = new IndexedSearch(search.placed, plan);

  it('puts rows into classes', () => {
    expect(plan.exact).toBe(false);
    expect(plan.elements.length).toBeGreaterThanOrEqual(4);
    expect(plan.classCount).toBeGreaterThan(10);
    expect(plan.classCount).toBeLessThan(search.placed.rowCount / 4);
    expect(plan.recall).toBeGreaterThanOrEqual(options.indexRecall);
  });

  it('finds what comparing all pairs finds, with the same scores', () => {
    let same = 0;
    for (let row = 0; row < search.placed.rowCount; row++) {
      const truth = search.neighborsOf(row, K);
      const found = indexed.neighborsOf(row, K);
      expect([...found.scores]).toEqual([...truth.scores]);
      if (found.rows.join() === truth.rows.join()) same++;
    }
    // Rounding may put other rows of the same score in their place.
    expect(same).toBeGreaterThan(search.placed.rowCount * 0.95);
  });

  it('is planned alike for the same seed', () => {
    expect(planIndex(searchOf(worlds[name]!), options)).toEqual(plan);
  });
});

describe('planIndex', () => {
  it('stays exact when switched off, without room, or when that is fast enough', () => {
    const exact = { exact: true, recall: 1 };
    const incidence = worlds.films!;
    expect(planIndex(searchOf(incidence), { ...options, enableIndex: false })).toMatchObject(exact);
    expect(planIndex(searchOf(incidence, false), options)).toMatchObject(exact);
    expect(planIndex(searchOf(incidence), { ...options, exactAdditionsMax: 1e12 })).toMatchObject(exact);
    expect(planIndex(searchOf(incidence), { ...options, costShareMax: 0.5 })).toMatchObject(exact);
    const { exactAdditionsMax: _most, ...defaults } = options;
    expect(planIndex(searchOf(incidence), defaults)).toMatchObject(exact);
  });

  it('stays exact when rows are too different for classes', () => {
    const random = createRandom(8);
    const different = incidenceOfLabels(
      () => Array.from({ length: 20 }, () => `label ${random.below(40)}`),
      40,
    );
    expect(planIndex(searchOf(different), options)).toMatchObject({ exact: true });
  });

  it('fills a table through the threads as the exact search does', () => {
    const tableWith = (enableIndex: boolean) => {
      const search = searchOf(worlds.films!);
      const plan = planIndex(search, { ...options, enableIndex });
      const task = createNeighborTask(search.placed, createDraft(search.placed.rowCount, K), { plan });
      expect(runNeighborTask(task, loadKernels(search.placed.memory), 0)).toBe(true);
      return finishTasks([task], 0);
    };
    expect(tableWith(true).scores).toEqual(tableWith(false).scores);
  });
});

describe('recallOf', () => {
  const ranked = (rows: number[], scores: number[]) => ({
    rows: Uint32Array.from(rows),
    scores: Float32Array.from(scores),
  });

  it('counts what scores as high as the true list does', () => {
    const truth = ranked([1, 2, 3, 4], [0.9, 0.8, 0.7, 0.6]);
    expect(recallOf(truth, truth.scores)).toBe(1);
    expect(recallOf(truth, Float32Array.of(0.9, 0.7, 0.5))).toBe(0.5);
    expect(recallOf(truth, Float32Array.of(0.9, 0.8, 0.7, 0.6, 0.6))).toBe(1);
    expect(recallOf(ranked([], []), new Float32Array())).toBe(1);
  });
});
