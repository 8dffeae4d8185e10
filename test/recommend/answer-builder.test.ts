import { performance } from 'node:perf_hooks';
import { afterEach, expect, test, vi } from 'vitest';
import { AnswerBuilder } from '../../src/recommend/answers/answer-builder.ts';
import { ShownCounts } from '../../src/recommend/placements/shown-counts.ts';

afterEach(() => vi.restoreAllMocks());

test('others get their turn while a long list is taken under caps, and it is the same list', async () => {
  const rows = Array.from({ length: 4000 }, (_, at) => at);
  // At most two of one name in ten, and a third of all have the same one.
  const namesAt = (row: number) => [row % 3 === 0 ? 'often' : `n${row % 11}`];
  const answer = () => new AnswerBuilder(rows.length, new ShownCounts([{ most: 2, namesAt }], 10));
  const expected = answer();
  for (const row of rows) expected.take(row, -row, `s${row % 2}`);
  // Whoever looks at the clock finds that others are to have their turn.
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 2));
  const inOneTurn: number[] = [];
  const made = answer();
  let goesOn = true;
  let before = 0;
  const look = () => {
    inOneTurn.push(made.rows.length - before);
    before = made.rows.length;
    if (goesOn) setImmediate(look);
  };
  look();
  await made.takeAll(
    rows,
    rows.map((row) => -row),
    (row) => `s${row % 2}`,
  );
  goesOn = false;
  look();
  expect(made.rows).toEqual(expected.rows);
  expect(made.rows.map((row) => [made.scoreOf(row), made.sourceOf(row)])).toEqual(
    expected.rows.map((row) => [expected.scoreOf(row), expected.sourceOf(row)]),
  );
  expect(made.rows.length).toBeGreaterThan(1000);
  // What waited may be taken with one that is taken.
  expect(Math.max(...inOneTurn)).toBeLessThanOrEqual(2 * 32);
});
