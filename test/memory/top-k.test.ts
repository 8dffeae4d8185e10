import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import { TopK } from '../../src/memory/top-k.ts';
import { atOnce } from '../../src/platform/concurrency/event-loop-turns.ts';

describe('TopK', () => {
  it.each([1, 2, 7, 50])('keeps the best %i of a stream with ties, whatever its order', (k) => {
    const random = createRandom(k);
    const stream = Array.from({ length: 200 }, (_, row) => ({ row, score: random.below(30) }));
    const best = new TopK(k);
    for (let round = 0; round < 3; round++) {
      best.clear();
      stream.sort(() => random.float() - 0.5);
      for (const { row, score } of stream) best.push(row, score);
      const expected = [...stream].sort((a, b) => b.score - a.score || a.row - b.row).slice(0, k);
      expect([...best.rows()].sort((a, b) => a - b)).toEqual(
        expected.map(({ row }) => row).sort((a, b) => a - b),
      );
    }
  });

  it('sorts many in steps to the same list, and keeps them', () => {
    const random = createRandom(3);
    const best = new TopK(5000);
    for (let row = 0; row < 9000; row++) best.push(row, random.below(1000));
    const inOneGo = best.sorted();
    let pauses = 0;
    expect(atOnce(best.sortedInSteps(), () => pauses++)).toEqual(inOneGo);
    expect(pauses).toBeGreaterThan(5);
    expect(best.sorted()).toEqual(inOneGo);
  });

  it('says whether a row was kept', () => {
    const best = new TopK(2);
    expect([best.push(5, 1), best.push(4, 1), best.push(6, 1), best.push(3, 1)]).toEqual([
      true,
      true,
      false,
      true,
    ]);
    expect([...best.rows()].sort()).toEqual([3, 4]);
  });

  it('keeps the best in a total order, as sorting everything would', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 }), fc.nat(70), (scores, k) => {
        const top = new TopK(k);
        scores.forEach((score, row) => {
          top.push(row, score);
        });
        const expected = scores
          .map((score, row) => ({ row, score }))
          .sort((a, b) => b.score - a.score || a.row - b.row)
          .slice(0, k);
        expect(top.sorted()).toEqual({
          rows: expected.map((e) => e.row),
          scores: expected.map((e) => e.score),
        });
      }),
    );
  });
});
