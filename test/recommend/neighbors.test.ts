import { describe, expect, it } from 'vitest';
import { elementWeight, type Incidence, similarRows } from '../../src/recommend/neighbors.ts';

/** Four films and their labels. */
const LABELS: readonly (readonly string[])[] = [
  ['space', 'robots'],
  ['space', 'robots', 'war'],
  ['space', 'love'],
  ['love'],
];

const films: Incidence<string> = {
  rowCount: LABELS.length,
  elementsOf: (row) => LABELS[row] ?? [],
  rowsOf: (label) => new Set(LABELS.flatMap((labels, row) => (labels.includes(label) ? [row] : []))),
};

describe('similarRows', () => {
  it('scores by the formula, computed by hand', () => {
    const space = Math.log(4 / 3);
    const robots = Math.log(4 / 2);
    const war = Math.log(4 / 1);
    const love = Math.log(4 / 2);
    const { rows, scores } = similarRows(0, 10, films, () => true);
    expect(rows).toEqual([1, 2]);
    const own = Math.sqrt(space + robots);
    expect(scores[0]).toBeCloseTo(
      ((space + robots) * (2 / 102)) / (own * Math.sqrt(space + robots + war)),
      12,
    );
    expect(scores[1]).toBeCloseTo((space * (1 / 101)) / (own * Math.sqrt(space + love)), 12);
  });

  it('never lists the row itself, nor one that is refused, nor one without anything in common', () => {
    expect(similarRows(3, 10, films, () => true).rows).toEqual([2]);
    expect(similarRows(0, 10, films, (row) => row !== 1).rows).toEqual([2]);
  });

  it('gives a small positive weight to what all rows share', () => {
    expect(elementWeight(4, 4)).toBeGreaterThan(0);
    expect(elementWeight(4, 4)).toBeLessThan(elementWeight(4, 3));
  });
});
