import { expect, it } from 'vitest';
import { FilterError } from '../../src/domain/filter-error.ts';
import { parseFilter } from '../../src/domain/filter-tree.ts';

function troubleOf(filter: unknown): string {
  try {
    parseFilter(filter);
  } catch (error) {
    if (error instanceof FilterError) return `${error.path}: ${error.message}`;
    throw error;
  }
  return '';
}

it('reads conditions within conditions, and an empty table as none', () => {
  expect(parseFilter({})).toBeUndefined();
  const filter = {
    and: [{ label: 'new' }, { not: { category: { in: ['a', 'b'] } } }, { age_days: { lt: 3 } }],
  };
  expect(parseFilter(filter)).toEqual({
    kind: 'and',
    parts: [
      { kind: 'label', names: ['new'] },
      { kind: 'not', part: { kind: 'category', names: ['a', 'b'] } },
      { kind: 'ageDays', between: { gt: Number.NEGATIVE_INFINITY, lt: 3 } },
    ],
  });
});

it.each([
  [
    { and: [{ label: 'a' }, { not: { colour: 'red' } }] },
    '.and[1].not.colour: unknown condition; expected one of',
  ],
  [{ or: [] }, '.or: expected a list of conditions, got []'],
  [{ label: 7 }, '.label: expected a name or { in = [...] }'],
  [{ category: { in: ['a', ''] } }, '.category: expected a name'],
  [{ age_days: { lt: '3' } }, '.age_days: expected { gt = NUMBER'],
  [{ label: 'a', category: 'b' }, ': expected a table with one of and, or, not'],
  [{ and: ['label == 1'] }, '.and[0]: expected a table with one of'],
])('says where %j cannot be read', (filter, trouble) => {
  expect(troubleOf(filter)).toContain(trouble);
});

it('refuses conditions without end', () => {
  let deep: object = { label: 'a' };
  for (let depth = 0; depth < 20; depth++) deep = { not: deep };
  expect(troubleOf(deep)).toContain('expected at most 16 tables');
  const many = { or: Array.from({ length: 300 }, () => ({ label: 'a' })) };
  expect(troubleOf(many)).toContain('.or[255]: expected at most 256 conditions');
});
