import { expect, it } from 'vitest';
import { passedOver } from '../../../src/recommend/placements/tired-items.ts';
import type { ShownRecord } from '../../../src/store/shown-log.ts';

const RULES = { placement: 'home', sinceMs: 100 };

function shown(
  timeMs: number,
  listMs: number,
  itemRows: number[],
  more: Partial<ShownRecord> = {},
): ShownRecord {
  const list = { placement: 'home', variant: '', generation: 1, timeMs: listMs };
  return { userId: 'u', timeMs, list, itemRows, places: itemRows.map((_, at) => at + 1), ...more };
}

it('rests what was seen in so many lists, not what was told twice of one', () => {
  expect(tiredRows([shown(101, 50, [1, 2]), shown(102, 50, [1]), shown(103, 60, [2, 3])], RULES)).toEqual([
    2,
  ]);
});

it('counts neither lists of long ago nor those of other placements', () => {
  const elsewhere = { list: { placement: 'side', variant: '', generation: 1, timeMs: 70 } };
  expect(tiredRows([shown(99, 50, [1]), shown(101, 60, [1]), shown(102, 70, [1], elsewhere)], RULES)).toEqual(
    [],
  );
});

it('wakes what feedback came of, until it was seen as often again', () => {
  const liked = shown(103, 60, [1], { places: [], feedbackType: 'like' });
  const before = [shown(101, 50, [1]), shown(102, 60, [1]), liked, shown(104, 80, [1])];
  expect(tiredRows(before, RULES)).toEqual([]);
  expect(tiredRows([...before, shown(105, 90, [1])], RULES)).toEqual([1]);
});

/** Rows that were seen in two lists or more. */
function tiredRows(records: readonly ShownRecord[], rules: typeof RULES): number[] {
  return [...passedOver(records, rules)].filter(([, times]) => times >= 2).map(([row]) => row);
}
