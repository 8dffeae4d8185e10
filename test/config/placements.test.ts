import { expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { configTemplate, printConfig } from '../../src/config/print.ts';
import { problemsOf } from './problems-of.ts';

const HOME = `
[placement.home]
categories = ["Drama"]
pins = [{ item = "film-1", place = 3, until = "2030-01-31T18:00:00Z" }]
max_per_label = 2
filter = { and = [{ label = "new" }, { not = { age_days = { gt = 30 } } }] }
[placement.shelf]
`;

it('reads placements by their names, with defaults', () => {
  const { placement } = parseConfig(HOME);
  expect(Object.keys(placement)).toEqual(['home', 'shelf']);
  expect(placement.home).toMatchObject({ categories: ['Drama'], max_per_label: 2, length: 0, exclude: [] });
  expect(placement.shelf).toMatchObject({ pins: [], filter: {} });
});

it('writes them so that they are read again', () => {
  const config = parseConfig(HOME);
  expect(parseConfig(printConfig(config))).toEqual(config);
  expect(parseConfig(configTemplate(config))).toEqual(config);
});

it('reads them from a variable as JSON', () => {
  const env = { FURZE_PLACEMENT: '{"home":{"length":5}}' };
  expect(parseConfig(HOME, env).placement).toMatchObject({ home: { length: 5 } });
  expect(problemsOf('', { FURZE_PLACEMENT: 'home' })[0]).toContain(
    'FURZE_PLACEMENT (placement): expected a table',
  );
  expect(problemsOf('', { FURZE_PLACEMENT: '{"home":{"lengt":5}}' })[0]).toContain(
    'placement.home.lengt: unknown key',
  );
});

it('takes names that objects have, and refuses those that are none', () => {
  const { placement } = parseConfig('[placement.constructor]\nlength = 3');
  expect(Object.entries(placement)).toMatchObject([['constructor', { length: 3 }]]);
  const refused = 'expected a name of letters, digits, "-" and "_" that begins with a letter';
  expect(problemsOf('', { FURZE_PLACEMENT: '{"__proto__":{"length":3}}' })).toEqual([
    `placement.__proto__: ${refused}`,
  ]);
  expect(problemsOf('[placement."a b"]')).toEqual([`placement.a b: ${refused}`]);
  expect('length' in {}).toBe(false);
});

it.each([
  ['[placement.home]\nlengt = 3', 'placement.home.lengt: unknown key; expected one of kind'],
  ['[placement]\nhome = 3', 'placement.home: expected a table, got 3'],
  ['placement = 3', 'placement: expected a table, got 3'],
  ['[placement.home]\nlength = -1', 'placement.home.length: expected an integer from 0 to 10000, got -1'],
  ['[placement.home]\npins = [{ item = "a" }]', 'placement.home.pins: expected a list of pins such as'],
  [
    '[placement.home]\nboost = [{ label = "a", factor = 0 }]',
    'placement.home.boost: expected a list of at most 4 boosts',
  ],
  ['[placement.home]\nfallback = ["best"]', 'placement.home.fallback: expected a list'],
  [
    '[placement.home]\nfilter = { or = [{ label = "a" }, { price = 3 }] }',
    'placement.home.filter.or[1].price: unknown condition',
  ],
  [
    '[placement.home]\npins = [{ item = "a", place = 1, until = "Friday" }]',
    'placement.home.pins[0].until: expected a time',
  ],
  [
    '[placement.home]\npins = [{ item = "a", place = 1 }, { item = "b", place = 1 }]',
    'placement.home.pins[1].place: expected a place without another pin',
  ],
  ['[placement.home]\nexplore = 0.51', 'placement.home.explore: expected a number from 0 to 0.5, got 0.51'],
  ['[placement.home]\nexplore = -0.1', 'placement.home.explore: expected a number from 0 to 0.5, got -0.1'],
  ['[placement.home]\nexplore = true', 'placement.home.explore: expected a number'],
  ['[placement.home]\nkind = "best"', 'placement.home.kind: expected one of'],
  ['[placement.home]\nkind = "continue"', 'placement.home.begun: expected feedback types'],
  ['[placement.home]\nfilter = { and = [] }', 'placement.home.filter.and'],
  ['[placement.home]\nfilter = { label = "a", category = "b" }', 'placement.home.filter'],
  [
    '[placement.home]\nfilter = { age_days = { lt = "soon" } }',
    'placement.home.filter.age_days: expected { gt = NUMBER',
  ],
  ['[placement.home]\nfilter = { __proto__ = { label = "a" } }', 'placement.home.filter.__proto__'],
  [
    `[placement.home]\nfilter = ${'{ not = '.repeat(17)}{ label = "a" }${' }'.repeat(17)}`,
    'placement.home.filter.not',
  ],
  [
    `[placement.home]\nfilter = { or = [${Array(300).fill('{ label = "a" }').join(', ')}] }`,
    'placement.home.filter',
  ],
  [
    '[placement.home]\npins = [{ item = "a", place = 1 }, { item = "a", place = 2 }]',
    'placement.home.pins[1].item: expected an item without another pin',
  ],
  [
    '[placement.home]\nlength = 2\npins = [{ item = "a", place = 3 }]',
    'placement.home.pins[0].place: expected at most placement.home.length (2), got 3',
  ],
])('says where %j is wrong', (toml, problem) => {
  expect(problemsOf(toml)[0]).toContain(problem);
});
