import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../src/domain/random.ts';
import { BestRows } from '../../../src/model/neighbors/best-rows.ts';

describe('BestRows', () => {
  it.each([1, 2, 7, 50])('keeps the best %i of a stream with ties, whatever its order', (k) => {
    const random = createRandom(k);
    const stream = Array.from({ length: 200 }, (_, row) => ({ row, score: random.below(30) }));
    const best = new BestRows(k);
    for (let round = 0; round < 3; round++) {
      best.clear();
      stream.sort(() => random.float() - 0.5);
      for (const { row, score } of stream) best.offer(row, score);
      const expected = [...stream].sort((a, b) => b.score - a.score || a.row - b.row).slice(0, k);
      expect([...best.rows()].sort((a, b) => a - b)).toEqual(
        expected.map(({ row }) => row).sort((a, b) => a - b),
      );
    }
  });

  it('says whether a row was kept', () => {
    const best = new BestRows(2);
    expect([best.offer(5, 1), best.offer(4, 1), best.offer(6, 1), best.offer(3, 1)]).toEqual([
      true,
      true,
      false,
      true,
    ]);
    expect([...best.rows()].sort()).toEqual([3, 4]);
  });
});
