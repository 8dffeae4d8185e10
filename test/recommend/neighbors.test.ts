import { describe, expect, it } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import { elementWeight } from '../../src/model/neighbors/similarity.ts';
import { type Incidence, similarRows } from '../../src/recommend/neighbors/similar-rows.ts';

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
      7,
    );
    expect(scores[1]).toBeCloseTo((space * (1 / 101)) / (own * Math.sqrt(space + love)), 7);
  });

  it('never lists the row itself, nor one that is refused, nor one without anything in common', () => {
    expect(similarRows(3, 10, films, () => true).rows).toEqual([2]);
    expect(similarRows(0, 10, films, (row) => row !== 1).rows).toEqual([2]);
  });

  it('leaves nothing out that belongs in the list, whatever it does not look at', () => {
    const random = createRandom(5);
    const elements = Array.from({ length: 300 }, () => [
      ...new Set(Array.from({ length: 1 + random.below(6) }, () => random.below(40))),
    ]);
    const space: Incidence<number> = {
      rowCount: elements.length,
      elementsOf: (row) => elements[row]!,
      rowsOf: (element) => new Set(elements.flatMap((each, row) => (each.includes(element) ? [row] : []))),
    };
    for (let row = 0; row < 20; row++) {
      const all = similarRows(row, elements.length, space, () => true);
      expect(similarRows(row, 5, space, () => true)).toEqual({
        rows: all.rows.slice(0, 5),
        scores: all.scores.slice(0, 5),
      });
    }
  });

  it('leaves out a row that has lost what it had in common while it was looked for', () => {
    const emptied: Incidence<string> = { ...films, elementsOf: (row) => (row === 1 ? [] : LABELS[row]!) };
    expect(similarRows(0, 10, emptied, () => true).rows).toEqual([2]);
  });

  it('gives a small positive weight to what all rows share', () => {
    expect(elementWeight(4, 4)).toBeGreaterThan(0);
    expect(elementWeight(4, 4)).toBeLessThan(elementWeight(4, 3));
  });
});
