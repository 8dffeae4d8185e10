import { expect, it } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import { WindowSlice } from '../../src/recommend/popularity/window-slice.ts';

it.each([100, 30_000])('counts as a plain map would, over %i rows, also on top of what was saved', (rows) => {
  const random = createRandom(rows);
  const plain = new Map<number, number>();
  let slice = new WindowSlice();
  for (let round = 0; round < 3; round++) {
    for (let step = 0; step < 20_000; step++) {
      const row = random.below(rows);
      const sign = random.below(3) === 0 ? -1 : 1;
      slice.add(row, sign);
      plain.set(row, Math.max(0, (plain.get(row) ?? 0) + sign));
    }
    const counted = [...plain].filter(([, count]) => count > 0).sort(([a], [b]) => a - b);
    const visited: [number, number][] = [];
    slice.forEach((row, count) => {
      visited.push([row, count]);
    });
    expect(visited.sort(([a], [b]) => a - b)).toEqual(counted);
    const packed = slice.pack();
    expect(Array.from(packed.rows, (row, at) => [row, packed.counts[at]])).toEqual(counted);
    slice = new WindowSlice(packed);
  }
});
