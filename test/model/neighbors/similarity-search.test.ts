import { describe, expect, it } from 'vitest';
import { buildInteractions, type Interactions } from '../../../src/dataset/interactions.ts';
import { createRandom } from '../../../src/domain/random.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import {
  type Incidence,
  incidenceOfLabels,
  itemsByUsers,
  usersByItems,
} from '../../../src/model/neighbors/incidence.ts';
import { placeSimilarity, type SimilarityOptions } from '../../../src/model/neighbors/memory-layout.ts';
import { type RankedRows, SimilaritySearch } from '../../../src/model/neighbors/similarity-search.ts';
import { similarRows } from '../../../src/recommend/neighbors/similar-rows.ts';

/** Five films and their labels. */
const LABELS: readonly (readonly string[])[] = [
  ['space', 'robots'],
  ['space', 'robots', 'war'],
  ['space', 'love', 'love'],
  ['love'],
  [],
];

function searchOf(incidence: Incidence, options: SimilarityOptions = {}, slot = 0): SimilaritySearch {
  const placed = placeSimilarity(incidence, options, slot + 1);
  return new SimilaritySearch(placed, loadKernels(placed.memory), slot);
}

function randomInteractions(seed: number, userCount = 60, itemCount = 40): Interactions {
  const random = createRandom(seed);
  const userRows: number[] = [];
  const itemRows: number[] = [];
  for (let user = 0; user < userCount; user++) {
    for (let left = random.below(15); left > 0; left--) {
      userRows.push(user);
      itemRows.push(Math.floor(itemCount * random.float() ** 2));
    }
  }
  return buildInteractions({ userCount, itemCount, userRows, itemRows });
}

/** The same list by the search of the live service, which computes in double precision. */
function expected(incidence: Incidence, row: number, k: number) {
  const of = ({ indptr, indices }: Incidence['rows'], at: number) =>
    new Set(indices.subarray(indptr[at], indptr[at + 1]));
  return similarRows<number>(
    row,
    k,
    {
      rowCount: incidence.rows.rowCount,
      elementsOf: (at) => of(incidence.rows, at),
      rowsOf: (element) => of(incidence.elements, element),
    },
    () => true,
  );
}

/** Equal but for rounding: scores agree place by place, and rows do where the neighboring scores tell them apart. */
function expectSame(found: RankedRows, { rows, scores }: { rows: number[]; scores: number[] }): void {
  expect(found.rows).toHaveLength(rows.length);
  rows.forEach((row, at) => {
    expect(found.scores[at]).toBeCloseTo(scores[at]!, 6);
    const gap = Math.min(
      Math.abs((scores[at - 1] ?? Infinity) - scores[at]!),
      Math.abs(scores[at]! - (scores[at + 1] ?? -Infinity)),
    );
    if (gap > 1e-6) expect(found.rows[at]).toBe(row);
  });
}

describe('SimilaritySearch', () => {
  it('scores labels by the formula, computed by hand', () => {
    const search = searchOf(incidenceOfLabels((row) => LABELS[row]!, LABELS.length));
    const [space, robots, war, love] = [5 / 3, 5 / 2, 5 / 1, 5 / 2].map(Math.log) as [
      number,
      number,
      number,
      number,
    ];
    const { rows, scores } = search.neighborsOf(0, 10);
    expect([...rows]).toEqual([1, 2]);
    const own = Math.sqrt(space + robots);
    expect(scores[0]).toBeCloseTo(
      ((space + robots) * (2 / 102)) / (own * Math.sqrt(space + robots + war)),
      8,
    );
    expect(scores[1]).toBeCloseTo((space * (1 / 101)) / (own * Math.sqrt(space + love)), 8);
    expect(search.neighborsOf(4, 10).rows).toHaveLength(0);
  });

  it('gives a small positive weight to what all rows share, and takes another shrink and population', () => {
    const all = incidenceOfLabels(() => ['film'], 3);
    expect(searchOf(all).neighborsOf(1, 10).scores[0]).toBeCloseTo(1 / 101, 7);
    expect([...searchOf(all).neighborsOf(1, 10).rows]).toEqual([0, 2]);
    expect(searchOf(all, { shrink: 3 }).neighborsOf(1, 1).scores[0]).toBeCloseTo(1 / 4, 7);
    const two = incidenceOfLabels((row) => (row < 2 ? ['film', 'war'] : ['film']), 3);
    const [film, war] = [Math.log(9 / 3), Math.log(9 / 2)];
    const score = (film * (1 / 101)) / Math.sqrt(film * (film + war));
    expect(searchOf(two, { population: 9 }).neighborsOf(2, 1).scores[0]).toBeCloseTo(score, 7);
  });

  it.each([1, 2, 3])('finds what the live search finds, for items and for users, seed %i', (seed) => {
    const interactions = randomInteractions(seed);
    for (const incidence of [itemsByUsers(interactions), usersByItems(interactions)]) {
      const search = searchOf(incidence);
      for (let row = 0; row < incidence.rows.rowCount; row++) {
        expectSame(search.neighborsOf(row, 7), expected(incidence, row, 7));
      }
    }
  });

  it('answers for a block of rows what it answers for each', () => {
    const incidence = itemsByUsers(randomInteractions(4, 300, 200));
    const search = searchOf(incidence, {}, 1);
    const seen: number[] = [];
    search.topRows(10, 190, 5, (row, { rows, scores }) => {
      const [copiedRows, copiedScores] = [[...rows], [...scores]];
      seen.push(row);
      const other = searchOf(incidence).neighborsOf(row, 5);
      expect(copiedRows).toEqual([...other.rows]);
      expect(copiedScores).toEqual([...other.scores]);
    });
    expect(seen).toEqual(Array.from({ length: 180 }, (_, at) => at + 10));
  });

  it('takes a row by its elements: a placed one, a changed one, a new one', () => {
    const incidence = usersByItems(randomInteractions(6));
    const search = searchOf(incidence, {}, 2);
    const { indptr, indices } = incidence.rows;
    const row = [...indptr.keys()].find((at) => indptr[at + 1]! - indptr[at]! > 5)!;
    const elements = indices.subarray(indptr[row], indptr[row + 1]);
    const placed = search.neighborsOf(row, 9);
    expect(search.neighborsOfElements([...elements].reverse(), 9, row)).toEqual(placed);
    expect(search.neighborsOfElements([...elements, elements[0]!, 4_000_000], 9, row)).toEqual(placed);
    expect(search.neighborsOfElements(elements, 3).rows[0]).toBe(row);
    expect(search.neighborsOfElements([], 9).rows).toHaveLength(0);
    expect(search.neighborsOf(row, 9)).toEqual(placed);
  });

  it('refuses slots, rows and lengths that it does not have', () => {
    const placed = placeSimilarity(itemsByUsers(randomInteractions(7)), { listLengthMax: 10 });
    const search = new SimilaritySearch(placed, loadKernels(placed.memory), 0);
    expect(() => new SimilaritySearch(placed, loadKernels(placed.memory), 1)).toThrow(RangeError);
    expect(() => search.neighborsOf(40, 5)).toThrow(RangeError);
    expect(() => search.neighborsOf(-1, 5)).toThrow(RangeError);
    expect(() => search.neighborsOf(0, 0)).toThrow(RangeError);
    expect(() => search.neighborsOf(0, 1e6)).toThrow(RangeError);
    expect(() => placeSimilarity(itemsByUsers(randomInteractions(7)), { shrink: -1 })).toThrow(RangeError);
  });
});
