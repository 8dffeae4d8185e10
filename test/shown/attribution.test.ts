import { expect, it } from 'vitest';
import { atOnce } from '../../src/platform/concurrency/event-loop-turns.ts';
import { attribute } from '../../src/shown/attribution.ts';
import type { ShownRecord } from '../../src/store/shown-log.ts';

const WINDOW_MS = 100;

function shown(listMs: number, seenMs: number, itemRows: number[], placement = 'home'): ShownRecord {
  const list = { placement, variant: '', generation: 1, timeMs: listMs };
  return { userId: 'u', timeMs: seenMs, list, itemRows, places: itemRows.map((_, at) => at + 1) };
}

function named(listMs: number, itemRow: number, type: string): ShownRecord {
  return { ...shown(listMs, listMs + 1, [itemRow]), places: [], feedbackType: type };
}

const like = (itemRow: number, timeMs: number, type = 'like') => ({ itemRow, type, kind: type, timeMs });

/** Times of the lists with the items that came of each. */
function came(records: ShownRecord[], feedback: ReturnType<typeof like>[]) {
  return Object.fromEntries(
    atOnce(attribute(records, feedback, WINDOW_MS)).map(({ timeMs, outcomes }) => [
      timeMs,
      outcomes.map(({ itemRow, type, isNamed }) => `${type} ${itemRow}${isNamed ? ' named' : ''}`),
    ]),
  );
}

it('gives feedback to the last list with the item, within the window and not to a later one', () => {
  const records = [shown(1000, 1005, [1, 2]), shown(1050, 1055, [2, 3]), shown(1200, 1205, [1])];
  expect(
    came(records, [like(1, 1060), like(2, 1060), like(3, 1156), like(9, 1060), like(2, 1049), like(1, 1200)]),
  ).toEqual({ 1000: ['like 1', 'like 2'], 1050: ['like 2'], 1200: ['like 1'] });
});

it('counts from when the item was seen last, and what was told to be seen after the click', () => {
  const records = [shown(1000, 1005, [1]), shown(1000, 1090, [1, 2])];
  expect(came(records, [like(1, 1190), like(2, 1010)])).toEqual({ 1000: ['like 1', 'like 2'] });
  expect(came(records, [like(1, 1191), like(2, 999)])).toEqual({ 1000: [] });
});

it('believes what feedback names, of that type alone, whenever it was', () => {
  const records = [
    shown(1000, 1005, [1]),
    shown(1050, 1055, [1]),
    named(1000, 1, 'buy'),
    named(1000, 7, 'buy'),
  ];
  expect(came(records, [like(1, 1060), like(1, 5000, 'buy'), like(7, 1060, 'buy')])).toEqual({
    1000: ['buy 1 named', 'buy 7 named'],
    1050: ['like 1'],
  });
});

it('takes what was clicked on for seen, once a list, at the place where it stood', () => {
  const [list] = atOnce(
    attribute(
      [shown(1000, 1005, [4, 5]), shown(1000, 1008, [5, 4]), named(1000, 5, 'buy'), named(1000, 6, 'buy')],
      [],
      WINDOW_MS,
    ),
  );
  expect([...list!.seen].map(([row, { place }]) => [row, place])).toEqual([
    [4, 1],
    [5, 2],
    [6, 0],
  ]);
  expect(list!.shownMs).toBe(1001);
});
