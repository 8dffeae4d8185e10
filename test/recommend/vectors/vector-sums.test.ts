import { expect, test } from 'vitest';
import { createRandom } from '../../../src/domain/random.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { comparisonWith } from '../../../src/recommend/vectors/packed-numbers.ts';
import { VectorReader } from '../../../src/recommend/vectors/vector-reader.ts';
import { VectorSums } from '../../../src/recommend/vectors/vector-sums.ts';
import { VectorTable } from '../../../src/recommend/vectors/vector-table.ts';

const DIMENSIONS = 24;
const TOPICS = 6;
/** Row r is of topic r % TOPICS, near a direction that all share. */
const ROWS = 600;

function prepare() {
  const random = createRandom(1);
  const draw = () => Float32Array.from({ length: DIMENSIONS }, () => random.normal());
  const topics = Array.from({ length: TOPICS }, draw);
  const all = draw();
  const table = new VectorTable({ dimensions: DIMENSIONS, similarity: 'cosine' }, 1);
  const vectors = Array.from({ length: ROWS }, (_, row) => {
    const noise = draw();
    return topics[row % TOPICS]!.map((number, at) => number + 3 * all[at]! + 0.5 * noise[at]!);
  });
  for (const [row, vector] of vectors.entries()) table.put(row, vector);
  const readerOf = () => new VectorReader(table.place, loadKernels(table.place.memory), 0);
  return { table, vectors, readerOf };
}

const accept = () => true;
const topicsOf = (rows: Iterable<number>) => [...new Set([...rows].map((row) => row % TOPICS))].sort();

test('items near what is liked come first, however much all have in common', () => {
  const { readerOf } = prepare();
  const sums = new VectorSums();
  expect(sums.sumUp(readerOf(), [2, 8, 14])).toBe(true);
  expect(topicsOf(sums.topRows(50, {}, accept))).toEqual([2]);
  const out = new Float64Array(4);
  sums.copy([20, 21, 5000, 22], out);
  expect(out[0]).toBeGreaterThan(10 * Math.max(out[1]!, out[3]!));
  expect(out[2]).toBe(0);
  expect(sums.get(20)).toBe(out[0]);
  expect(out[0]).toBeLessThanOrEqual(sums.largest);
});

test('likes of different topics are interests of their own, the later ones stronger', () => {
  const { readerOf } = prepare();
  const sums = new VectorSums();
  sums.sumUp(readerOf(), [1, 4, 7, 10, 13, 16]);
  const found = sums.topRows(20, {}, accept);
  expect(topicsOf(found)).toEqual([1, 4]);
  const of = (topic: number) => [...found].filter((row) => row % TOPICS === topic).length;
  expect(of(1)).toBeGreaterThanOrEqual(of(4));
  // More topics than interests: the last is added to what is nearest.
  sums.sumUp(readerOf(), [0, 1, 2, 3, 4, 5]);
  expect(topicsOf(sums.topRows(100, {}, accept))).toEqual(expect.arrayContaining([0, 1, 2, 3]));
});

test('refused rows are not found, and likes without vectors do not count', () => {
  const { table, readerOf } = prepare();
  const sums = new VectorSums();
  expect(sums.sumUp(readerOf(), [9999])).toBe(false);
  expect(sums.sumUp(readerOf(), [])).toBe(false);
  sums.sumUp(readerOf(), [9999, 3]);
  const allowed = new Uint32Array(ROWS / 32 + 1).fill(0xffff_ffff);
  allowed[0] = 0;
  const found = [...sums.topRows(10, { allowed }, (row) => row !== 33)];
  expect(found).toHaveLength(10);
  expect(found.every((row) => row >= 32 && row !== 33)).toBe(true);
  // A new item takes part at once.
  table.put(ROWS, Float32Array.from(prepare().vectors[3]!));
  sums.sumUp(readerOf(), [3]);
  expect([...sums.topRows(2, {}, accept)].sort((a, b) => a - b)).toEqual([3, ROWS]);
});

test('cosines are those of the vectors, and the mean does not depend on the order of writes', () => {
  const { table, vectors, readerOf } = prepare();
  const reader = readerOf();
  const query = vectors[0]!;
  const length = Math.sqrt(query.reduce((sum, number) => sum + number * number, 0));
  const seen: number[] = [];
  reader.cosines([reader.pack(query.map((number) => number / length))], [0, 1, 2], (at, _query, cosine) => {
    seen[at] = cosine;
  });
  for (const at of [0, 1, 2])
    expect(seen[at]).toBeCloseTo(comparisonWith(query, 'cosine').byNumbers(vectors[at]!), 2);
  const other = new VectorTable({ dimensions: DIMENSIONS, similarity: 'cosine' }, 1);
  for (const [row, vector] of [...vectors.entries()].reverse()) other.put(row, vector);
  other.put(ROWS, vectors[5]!);
  other.put(5, vectors[6]!);
  other.put(5, vectors[5]!);
  other.remove(ROWS);
  expect(other.place.mean).toEqual(table.place.mean);
});
