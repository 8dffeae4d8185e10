import { expect, test } from 'vitest';
import { createRandom } from '../../../src/domain/random.ts';
import { SIMILARITIES } from '../../../src/domain/vector-space.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { atOnce } from '../../../src/platform/concurrency/event-loop-turns.ts';
import { bestAsGiven } from '../../../src/recommend/vectors/best-as-given.ts';
import { comparisonWith } from '../../../src/recommend/vectors/packed-numbers.ts';
import { scanTable } from '../../../src/recommend/vectors/scan-table.ts';
import { VectorTable } from '../../../src/recommend/vectors/vector-table.ts';

test.each(SIMILARITIES)(
  '%s: the best of all are found, and most of the others are not read',
  (similarity) => {
    const random = createRandom(3);
    const draw = () => Float32Array.from({ length: 48 }, () => random.normal());
    const vectors = Array.from({ length: 3000 }, draw);
    const table = new VectorTable({ dimensions: 48, similarity }, 1);
    for (const [row, vector] of vectors.entries()) table.put(row, vector);
    const { place } = table;
    const kernels = loadKernels(place.memory);
    for (let question = 0; question < 20; question++) {
      const query = draw();
      const asked = { query, k: 1000, accept: () => true, scratch: 0 };
      const byBytes = atOnce(scanTable(place, kernels, asked));
      const all = vectors.map((vector) => comparisonWith(query, similarity).byNumbers(vector));
      for (const k of [1, 10, 100]) {
        let read = 0;
        const at = (row: number) => {
          read++;
          return vectors[row];
        };
        const found = atOnce(bestAsGiven({ query, similarity, k }, byBytes, at));
        const best = [...all.keys()].sort((one, other) => all[other]! - all[one]! || one - other).slice(0, k);
        expect(found).toEqual({ rows: best, scores: best.map((row) => all[row]!) });
        expect(read).toBeLessThan(2 * k + 50);
      }
    }
  },
);

test('rows that have gone are passed over, and equal ones stand in their order', () => {
  const rows = Array.from({ length: 100 }, (_, row) => row);
  const byBytes = { rows, scores: rows.map(() => 1) };
  const found = { query: Float32Array.of(1, 1), similarity: 'cosine' as const, k: 3 };
  const vectorAt = (row: number) => (row % 2 === 0 ? undefined : Float32Array.of(1, 1));
  expect(atOnce(bestAsGiven(found, byBytes, vectorAt)).rows).toEqual([1, 3, 5]);
});
