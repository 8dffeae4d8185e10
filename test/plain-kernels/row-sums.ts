import type { Kernels } from '../../src/kernel/kernels.ts';
import { isAllowed } from './top-k.ts';
import type { Words } from './words.ts';

export function plainSumKernels(words: Words): Pick<Kernels, 'sumRows' | 'topSums'> {
  const { doubles, floats, ints } = words;
  return {
    sumRows({ starts, columns, scores, rows, items, weights, count, sums }) {
      const first = sums >>> 3;
      doubles.fill(0, first, first + rows);
      for (let at = 0; at < count; at++) {
        const item = ints[(items >>> 2) + at]!;
        if (item >= rows) continue;
        const weight = doubles[(weights >>> 3) + at]!;
        const end = ints[(starts >>> 2) + item + 1]!;
        for (let entry = ints[(starts >>> 2) + item]!; entry < end; entry++)
          doubles[first + ints[(columns >>> 2) + entry]!]! += weight * floats[(scores >>> 2) + entry]!;
      }
      let largest = 0;
      for (let row = 0; row < rows; row++) largest = Math.max(largest, doubles[first + row]!);
      return largest;
    },
    topSums({ sums, rows, k, allowedBits, outRows, outScores }) {
      const of = doubles.subarray(sums >>> 3, (sums >>> 3) + rows);
      const best = [...of.keys()]
        .filter((row) => of[row]! > 0 && isAllowed(words, allowedBits, row))
        .sort((a, b) => of[b]! - of[a]! || a - b)
        .slice(0, k);
      ints.set(best, outRows >>> 2);
      best.forEach((row, at) => {
        doubles[(outScores >>> 3) + at] = of[row]!;
      });
      return best.length;
    },
  };
}
