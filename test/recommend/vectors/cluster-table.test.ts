import { expect, test } from 'vitest';
import { createRandom } from '../../../src/domain/random.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { atOnce } from '../../../src/platform/concurrency/event-loop-turns.ts';
import { clusterTable } from '../../../src/recommend/vectors/cluster-table.ts';
import { probedShare } from '../../../src/recommend/vectors/probe-lists.ts';
import { scanTable } from '../../../src/recommend/vectors/scan-table.ts';
import { type TablePlace, VectorTable } from '../../../src/recommend/vectors/vector-table.ts';

const DIMENSIONS = 32;
const ROWS = 6000;
const TOPICS = 40;

/** Vectors around topics, or, without any, in all directions. */
function draw(topicCount: number): Float32Array[] {
  const random = createRandom(7);
  const one = (spread: number) => Float32Array.from({ length: DIMENSIONS }, () => spread * random.normal());
  const topics = Array.from({ length: topicCount }, () => one(1));
  return Array.from({ length: ROWS }, () => {
    const topic = topicCount === 0 ? undefined : topics[random.below(topicCount)]!;
    return one(topicCount === 0 ? 1 : 0.4).map((number, at) => number + (topic?.[at] ?? 0));
  });
}

function tableOf(vectors: readonly Float32Array[], order: readonly number[]): VectorTable {
  const table = new VectorTable({ dimensions: DIMENSIONS, similarity: 'cosine' }, 1);
  for (const row of order) table.put(row, vectors[row]!);
  return table;
}

const ALL = Array.from({ length: ROWS }, (_, row) => row);
const cluster = (place: TablePlace) => atOnce(clusterTable(place, loadKernels));

function find(
  place: TablePlace,
  query: Float32Array,
  k = 20,
  accept = (_row: number) => true,
  passing = 1,
): number[] {
  return atOnce(scanTable(place, loadKernels(place.memory), { query, k, accept, passing, scratch: 0 })).rows;
}

function recallOf(one: TablePlace, exact: TablePlace, queries: readonly Float32Array[]): number {
  const recalls = queries.map((query) => {
    const found = new Set(find(one, query));
    return find(exact, query).filter((row) => found.has(row)).length / 20;
  });
  return recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length;
}

test('a small part of the vectors has nearly all that are nearest, where they are of topics', () => {
  const vectors = draw(TOPICS);
  const table = tableOf(vectors, ALL);
  const exact = table.place;
  table.adopt(cluster(exact), []);
  expect(probedShare(table.place)).toBeLessThan(0.2);
  expect(table.size).toBe(ROWS);
  expect(recallOf(table.place, exact, vectors.slice(0, 100))).toBeGreaterThan(0.97);
  // Where few rows pass, more are looked at, and at last all.
  const { shares } = table.place;
  expect(shares.toSorted((one, other) => one - other)).toEqual(shares);
  expect([1, 0.5, 0.25].map((passing) => probedShare(table.place, passing))).toEqual(shares.slice(0, 3));
  expect(probedShare({ ...table.place, shares: [0.1, 0.16] }, 1 / 4)).toBeCloseTo(0.4, 12);
  expect(probedShare({ ...table.place, shares: [0.1, 0.2] }, 0.7)).toBeCloseTo(
    0.1 - 0.1 * Math.log2(0.7),
    12,
  );
  const tenth = (row: number) => row % 10 === 3;
  const missed = vectors.slice(0, 100).flatMap((query) => {
    const found = new Set(find(table.place, query, 20, tenth, 0.1));
    return find(exact, query, 20, tenth).filter((row) => !found.has(row));
  });
  expect(missed.length).toBeLessThan(0.05 * 100 * 20);
  expect(probedShare(table.place, 0.001)).toBe(1);
  const rare = (row: number) => row % 500 === 3;
  expect(find(table.place, vectors[0]!, 20, rare, 1 / 500)).toEqual(find(exact, vectors[0]!, 20, rare));
});

test('all are looked at where lists would miss too many', () => {
  const vectors = draw(0);
  const table = tableOf(vectors, ALL);
  const exact = table.place;
  table.adopt(cluster(exact), []);
  expect(probedShare(table.place)).toBe(1);
  expect(find(table.place, vectors[3]!)).toEqual(find(exact, vectors[3]!));
});

test('lists are the same in whatever order vectors were written', () => {
  const vectors = draw(TOPICS);
  const [one, other] = [ALL, ALL.toReversed()].map((order) => cluster(tableOf(vectors, order).place));
  expect(other!.starts).toEqual(one!.starts);
  expect(other!.shares).toEqual(one!.shares);
  expect(other!.places.slice(0, ROWS)).toEqual(one!.places.slice(0, ROWS));
});

test('what changed while lists were made, and after that, is found as it is', () => {
  const vectors = draw(TOPICS);
  const table = tableOf(vectors, ALL);
  const clustered = cluster(table.place);
  const strange = Float32Array.from({ length: DIMENSIONS }, (_, at) => (at === 0 ? 100 : -at));
  // Meanwhile one is written, one removed, one is new.
  table.put(10, strange);
  table.remove(20);
  table.put(ROWS, strange);
  table.adopt(clustered, [10, 20, ROWS]);
  expect(find(table.place, strange, 1)).not.toContain(10);
  for (const row of [10, ROWS]) table.put(row, strange);
  expect(table.size).toBe(ROWS);
  expect(find(table.place, strange, 2)).toEqual([10, ROWS]);
  expect(find(table.place, vectors[20]!, 5)).not.toContain(20);
  // One that moves out of its list leaves nothing behind.
  table.put(30, strange);
  expect(find(table.place, strange, 3)).toEqual([10, 30, ROWS]);
  expect(find(table.place, vectors[30]!, 50)).not.toContain(30);
  table.remove(30);
  table.remove(10);
  expect(find(table.place, strange, 1)).toEqual([ROWS]);
  expect(table.size).toBe(ROWS - 2);
  // Of what was in lists 10, 20 and 30 are gone; behind the lists two records were written, one of which is free again.
  expect(table.strayCount).toBe(3 + 3);
  const fresh = new VectorTable({ dimensions: DIMENSIONS, similarity: 'cosine' }, 1);
  for (const row of ALL) if (![10, 20, 30].includes(row)) fresh.put(row, vectors[row]!);
  fresh.put(ROWS, strange);
  expect(table.place.mean).toEqual(fresh.place.mean);
});
