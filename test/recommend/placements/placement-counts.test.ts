import { expect, test } from 'vitest';
import { PlacementCounts } from '../../../src/recommend/placements/placement-counts.ts';

test('counts by placement and variant, and of many together', () => {
  const counts = new PlacementCounts();
  for (let time = 0; time < 2; time++)
    for (let at = 0; at < 500; at++) counts.note('lists', `place-${at}`, at % 2 === 0 ? 'a' : 'b');
  counts.note('shown', 'place-0', 'a', 3);
  const lists = counts.read('lists');
  expect(lists).toHaveLength(101);
  expect(lists[0]).toEqual({ labels: { placement: 'place-0', variant: 'a' }, value: 2 });
  expect(lists.at(-1)).toEqual({ labels: { placement: '', variant: '' }, value: 2 * 400 });
  expect(counts.read('shown')[0]!.value).toBe(3);
});
