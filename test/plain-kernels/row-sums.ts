import type { Kernels } from '../../src/kernel/kernels.ts';
import { firstPlaceOf } from '../../src/kernel/scratch-sizes.ts';
import { isAllowed } from './top-k.ts';
import type { Words } from './words.ts';

export function plainSumKernels(words: Words): Pick<Kernels, 'sumRows' | 'topSums'> {
  const { doubles, floats, ints } = words;
  const placesOf = (rows: number, bits: number) => (bits === 0 ? rows : 2 ** bits);
  const keysOf = (sums: number, bits: number) =>
    ints.subarray((sums >>> 2) + 2 * 2 ** bits).subarray(0, 2 ** bits);
  /** The place of a row, taken for it where it has none. */
  const placeOf = (row: number, sums: number, bits: number) => {
    if (bits === 0) return row;
    const keys = keysOf(sums, bits);
    let place = firstPlaceOf(row, bits);
    while (keys[place] !== 0 && keys[place] !== row + 1) place = (place + 1) % keys.length;
    keys[place] = row + 1;
    return place;
  };
  return {
    sumRows({ starts, columns, scores, rows, items, weights, count, sums, bits }) {
      const first = sums >>> 3;
      doubles.fill(0, first, first + placesOf(rows, bits));
      if (bits > 0) keysOf(sums, bits).fill(0);
      for (let at = 0; at < count; at++) {
        const item = ints[(items >>> 2) + at]!;
        if (item >= rows) continue;
        const weight = doubles[(weights >>> 3) + at]!;
        const end = ints[(starts >>> 2) + item + 1]!;
        for (let entry = ints[(starts >>> 2) + item]!; entry < end; entry++)
          doubles[first + placeOf(ints[(columns >>> 2) + entry]!, sums, bits)]! +=
            weight * floats[(scores >>> 2) + entry]!;
      }
      let largest = 0;
      for (let place = 0; place < placesOf(rows, bits); place++)
        largest = Math.max(largest, doubles[first + place]!);
      return largest;
    },
    topSums({ sums, rows, bits, k, allowedBits, outRows, outScores }) {
      const of = doubles.subarray(sums >>> 3, (sums >>> 3) + placesOf(rows, bits));
      const keys = keysOf(sums, bits);
      const best = [...of.keys()]
        .map((place) => ({ row: bits === 0 ? place : keys[place]! - 1, sum: of[place]! }))
        .filter(({ row, sum }) => sum > 0 && isAllowed(words, allowedBits, row))
        .sort((a, b) => b.sum - a.sum || a.row - b.row)
        .slice(0, k);
      best.forEach(({ row, sum }, at) => {
        ints[(outRows >>> 2) + at] = row;
        doubles[(outScores >>> 3) + at] = sum;
      });
      return best.length;
    },
  };
}
