import { expect, test } from 'vitest';
import { ItemFeatureCache } from '../../src/recommend/ranking/item-feature-cache.ts';

test('features that are kept are worked out once for an item', () => {
  let asked = 0;
  const kept = new ItemFeatureCache(10, 2);
  const write = (row: number, out: Float64Array, at: number) => {
    asked++;
    out[at] = row / 3;
  };
  for (let round = 0; round < 2; round++) {
    const { values, places } = kept.placesOf([1, 9, 12], write);
    expect(Array.from(places.subarray(0, 3), (place) => values[place])).toEqual([1 / 3, 3, 4]);
  }
  expect(asked).toBe(4);
});
