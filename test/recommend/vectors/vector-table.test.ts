import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../src/domain/random.ts';
import { SIMILARITIES, type Similarity } from '../../../src/domain/vector-space.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { bitWords, hasBit, setBit } from '../../../src/memory/bits.ts';
import { atOnce } from '../../../src/platform/concurrency/event-loop-turns.ts';
import { comparisonWith } from '../../../src/recommend/vectors/packed-numbers.ts';
import { scanTable } from '../../../src/recommend/vectors/scan-table.ts';
import { VectorTable } from '../../../src/recommend/vectors/vector-table.ts';

const DIMENSIONS = 50;

function draw(seed: number, count: number): Float32Array[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () =>
    Float32Array.from({ length: DIMENSIONS }, () => random.normal()),
  );
}

function allRows(count: number, except: (row: number) => boolean = () => false): Uint32Array {
  const bits = new Uint32Array(bitWords(count));
  for (let row = 0; row < count; row++) if (!except(row)) setBit(bits, row);
  return bits;
}

function tableOf(vectors: readonly Float32Array[], similarity: Similarity): VectorTable {
  const table = new VectorTable({ dimensions: DIMENSIONS, similarity }, 2);
  for (const [row, vector] of vectors.entries()) table.put(row, vector);
  return table;
}

function find({ place }: VectorTable, query: Float32Array, k: number, allowed: Uint32Array): number[] {
  const kernels = loadKernels(place.memory);
  const accept = (row: number) => hasBit(allowed, row);
  return atOnce(scanTable(place, kernels, { query, k, accept, scratch: place.scratches - 1 })).rows;
}

/** The rows by the numbers as given, best first. */
function exactRows(vectors: readonly Float32Array[], query: Float32Array, similarity: Similarity): number[] {
  const scores = vectors.map((vector) => comparisonWith(query, similarity).byNumbers(vector));
  return [...scores.keys()].sort((one, other) => scores[other]! - scores[one]! || one - other);
}

describe.each(SIMILARITIES)('%s', (similarity) => {
  test('twice as many by bytes hold the best by numbers', () => {
    const vectors = draw(1, 5000);
    const table = tableOf(vectors, similarity);
    const allowed = allRows(5000);
    for (const query of draw(2, 20)) {
      const best = exactRows(vectors, query, similarity).slice(0, 10);
      const found = new Set(find(table, query, 70, allowed));
      expect(best.filter((row) => !found.has(row))).toEqual([]);
    }
  });

  test('rows that are not allowed, and those removed, are not found, whatever comes in their place', () => {
    const vectors = draw(3, 3000);
    const table = tableOf(vectors, similarity);
    for (let row = 0; row < 3000; row += 3) table.remove(row);
    const others = draw(4, 500);
    for (const [at, vector] of others.entries()) table.put(3000 + at, vector);
    expect(table.size).toBe(2500);
    expect(table.place.count).toBe(3000);
    const allowed = allRows(3500, (row) => row % 2 === 0);
    const [query] = draw(5, 1) as [Float32Array];
    const found = find(table, query, 3500, allowed);
    const expected = [...vectors, ...others].flatMap((_, row) =>
      row % 2 === 0 || (row < 3000 && row % 3 === 0) ? [] : [row],
    );
    expect(found.toSorted((one, other) => one - other)).toEqual(expected);
  });
});

test('a vector may be put again, of equal ones the lower row stands first, and zeros are none', () => {
  const table = new VectorTable({ dimensions: 2, similarity: 'dot' }, 1);
  const put = (row: number, ...numbers: number[]) => table.put(row, Float32Array.from(numbers));
  for (const row of [5, 3, 9, 1]) put(row, 1, 1);
  put(7, 0, 0);
  put(3, 2, 2);
  const query = Float32Array.of(1, 1);
  expect(find(table, query, 3, allRows(10))).toEqual([3, 1, 5]);
  expect(find(table, query, 9, allRows(10))).toEqual([3, 1, 5, 9, 7]);
});

test('takes a byte a number and 16 more a vector', () => {
  const table = new VectorTable({ dimensions: 384, similarity: 'dot' }, 1);
  for (let row = 0; row < 20_000; row++) table.put(row, new Float32Array(384).fill(row));
  expect(table.bytes).toBe(20_000 * 400);
  expect(table.place.memory.buffer.byteLength).toBeLessThan(1.2 * table.bytes);
});
