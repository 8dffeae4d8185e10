import { describe, expect, it } from 'vitest';
import { buildInteractions } from '../../src/dataset/interactions.ts';
import { createRandom } from '../../src/domain/random.ts';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import { SimilaritySearch } from '../../src/model/similarity.ts';
import { usersByItems } from '../../src/model/similarity-incidence.ts';
import { IndexedSearch, planIndex, recallOf } from '../../src/model/similarity-index.ts';
import { placeSimilarity } from '../../src/model/similarity-memory.ts';

const USERS = 3000;
const K = 10;

/** Users with tastes: half of what a user likes is of its kind, the rest is what everybody likes. */
function tastes() {
  const random = createRandom(5);
  const [kinds, itemsOfKind, hits] = [100, 40, 60];
  const userRows: number[] = [];
  const itemRows: number[] = [];
  for (let user = 0; user < USERS; user++) {
    for (let at = 0; at < 20; at++) {
      const own = hits + (user % kinds) * itemsOfKind + random.below(itemsOfKind);
      userRows.push(user);
      itemRows.push(at % 2 === 0 ? own : random.below(hits));
    }
  }
  const itemCount = hits + kinds * itemsOfKind;
  return buildInteractions({ userCount: USERS, itemCount, userRows, itemRows });
}

const incidence = usersByItems(tastes());

function searchWith(reserveIndex: boolean): SimilaritySearch {
  const placed = placeSimilarity(incidence, { reserveIndex });
  return new SimilaritySearch(placed, loadKernels(placed.memory), 0);
}

const options = { enableIndex: true, k: K, seed: 1, exactAdditionsMax: 1000 };

describe('planIndex', () => {
  it.each([0.5, 0.8, 0.95])('reaches the recall asked for over all rows: %f', (indexRecall) => {
    const search = searchWith(true);
    const plan = planIndex(search, { ...options, indexRecall });
    expect(plan.exact).toBe(false);
    expect(plan.costShare).toBeLessThan(0.5);
    const indexed = new IndexedSearch(search, plan);
    let sum = 0;
    for (let row = 0; row < USERS; row++) {
      const truth = search.neighborsOf(row, K);
      const found = indexed.neighborsOf(row, K);
      sum += recallOf(truth, found);
      if (row % 100 !== 0) continue;
      // What is found bears the exact score.
      const scoreOf = new Map(Array.from(truth.rows, (other, at) => [other, truth.scores[at]]));
      found.rows.forEach((other, at) => {
        if (scoreOf.has(other)) expect(found.scores[at]).toBe(scoreOf.get(other));
      });
    }
    expect(sum / USERS).toBeGreaterThanOrEqual(indexRecall);
    expect(plan.recall).toBeGreaterThanOrEqual(indexRecall);
    expect(plan.recall).toBeCloseTo(sum / USERS, 1);
  });

  it('says the same for the same seed', () => {
    const plans = [1, 1].map((seed) => planIndex(searchWith(true), { ...options, indexRecall: 0.8, seed }));
    expect(plans[0]).toEqual(plans[1]);
  });

  it('stays exact when switched off, without room, when that is fast, or when nothing less reaches the recall', () => {
    const exact = { exact: true, recall: 1 };
    const wanted = { ...options, indexRecall: 0.8 };
    expect(planIndex(searchWith(true), { ...wanted, enableIndex: false })).toMatchObject(exact);
    expect(planIndex(searchWith(false), wanted)).toMatchObject(exact);
    expect(planIndex(searchWith(true), { ...wanted, exactAdditionsMax: 1e12 })).toMatchObject(exact);
    expect(planIndex(searchWith(true), { ...wanted, indexRecall: 1 })).toMatchObject(exact);
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
    expect(recallOf(truth, ranked([1, 3, 9], [0.9, 0.7, 0.5]))).toBe(0.5);
    expect(recallOf(truth, ranked([1, 2, 3, 7], [0.9, 0.8, 0.7, 0.6]))).toBe(1);
    expect(recallOf(ranked([], []), ranked([], []))).toBe(1);
  });
});
