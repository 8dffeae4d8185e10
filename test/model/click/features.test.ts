import { describe, expect, it } from 'vitest';
import { finish } from '../../../bench/fit-in-thread.ts';
import { collectLabels, featureBlocks, labelRows, labelValue } from '../../../src/model/click/features.ts';

const labels = [['b', 'a'], ['a', 'a', 'once'], [], ['c', 'b', 'a'], ['c']];
const labelsOf = (row: number) => labels[row]!;

describe('labels as features', () => {
  it('are named by those that two rows share, most frequent first, ties by name', () => {
    expect(finish(collectLabels(5, labelsOf))).toEqual(['a', 'b', 'c']);
    expect(finish(collectLabels(5, labelsOf, 2))).toEqual(['a', 'b']);
    expect(finish(collectLabels(0, labelsOf))).toEqual([]);
  });

  it('of which there are too many keep the frequent ones in bounded memory', () => {
    const often = (row: number) => ['everywhere', `of one row ${row}`, ...(row % 3 === 0 ? ['thrice'] : [])];
    expect(finish(collectLabels(1000, often, 5)).slice(0, 2)).toEqual(['everywhere', 'thrice']);
  });

  it('are numbered for each row, each once', () => {
    const { starts, labels: numbers } = finish(labelRows(5, labelsOf, ['a', 'b', 'c']));
    expect([...starts]).toEqual([0, 2, 3, 3, 6, 7]);
    expect([...numbers]).toEqual([1, 0, 0, 2, 1, 0, 2]);
  });

  it('have together the length 1', () => {
    for (const count of [1, 2, 7, 512]) expect(count * labelValue(count) ** 2).toBeCloseTo(1, 6);
  });

  it('come after users and items', () => {
    const layout = { userCount: 4, itemCount: 3, userLabels: ['x'], itemLabels: ['y', 'z'] };
    expect(featureBlocks(layout)).toEqual({ items: 4, userLabels: 7, itemLabels: 8, featureCount: 10 });
  });
});
