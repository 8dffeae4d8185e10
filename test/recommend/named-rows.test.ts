import { expect, it } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import { ItemIds } from '../../src/recommend/catalogue/item-ids.ts';
import { NamedRows } from '../../src/recommend/catalogue/named-rows.ts';

it('tells the names of rows and the rows of names as plain lists would, while names come and go', () => {
  const random = createRandom(11);
  const named = new NamedRows();
  const plain = new Map<number, string[]>();
  const nameAt = (at: number) => `name-${at}`;
  for (let step = 0; step < 4000; step++) {
    const row = random.below(60);
    // Now and then more than are compared one by one, with some twice.
    const length = random.below(20) === 0 ? 40 : random.below(4);
    const names = Array.from({ length }, () => nameAt(random.below(30 + (step >> 7))));
    named.replace(row, names);
    plain.set(row, [...new Set(names)]);
  }
  for (const [row, names] of plain) {
    expect(named.namesAt(row)).toEqual(names);
    expect(named.hasNames(row)).toBe(names.length > 0);
    expect(named.numbersAt(row).map((number) => named.rowsWithNumber(number))).toEqual(
      names.map((name) => named.rowsWith(name)),
    );
  }
  for (let at = 0; at < 70; at++) {
    const rows = [...plain].filter(([, names]) => names.includes(nameAt(at))).map(([row]) => row);
    expect([...(named.rowsWith(nameAt(at)) ?? [])]).toEqual(rows.sort((a, b) => a - b));
    for (let row = 0; row < 60; row++) expect(named.has(row, nameAt(at))).toBe(rows.includes(row));
  }
});

it('gives numbers of names that no row carries any more to others, so that there are no more than names at a time', () => {
  const named = new NamedRows();
  for (let round = 0; round < 1000; round++) named.replace(0, [`a${round}`, `b${round}`]);
  expect(Math.max(...named.numbersAt(0))).toBeLessThan(4);
});

it('keeps ids of any characters, and forgets the JSON of one that changed or went', () => {
  const ids = new ItemIds();
  const given = [
    'a',
    'film-1',
    'ÿé',
    'łódź',
    '日本語',
    '🎬',
    '\u{feff}x',
    '"\\\n',
    'x'.repeat(659),
    '語'.repeat(600),
  ];
  given.forEach((id, row) => {
    ids.set(row, id);
  });
  expect(given.map((_, row) => ids.at(row))).toEqual(given);
  expect(given.map((_, row) => ids.jsonAt(row))).toEqual(given.map((id) => JSON.stringify(id)));
  ids.set(2, 'other');
  ids.remove(3);
  expect([2, 3].map((row) => [ids.has(row), ids.at(row), ids.jsonAt(row)])).toEqual([
    [true, 'other', '"other"'],
    [false, undefined, undefined],
  ]);
  expect(ids.rowCount).toBe(given.length);
});

it('tells rows apart whose JSON is kept in one place', () => {
  const ids = new ItemIds();
  const rows = [5, 5 + 2 ** 15, 5 + 2 ** 16];
  for (const row of rows) ids.set(row, `id ${row}`);
  for (const row of [...rows, ...rows]) expect(ids.jsonAt(row)).toBe(`"id ${row}"`);
});
