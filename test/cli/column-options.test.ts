import { Command } from 'commander';
import { expect, it } from 'vitest';
import {
  addColumnOptions,
  nameOfDelimiter,
  parseDelimiter,
  parseMap,
  wishesOf,
} from '../../src/cli/common/column-options.ts';

it('takes every option by which the columns of a file are told', () => {
  const command = addColumnOptions(new Command('import'));
  const args =
    '--map user=uid --map item=sku --type buy --positive 4 --low-type view --separator ; --delimiter tab --time-format day-first --encoding latin1 --no-header';
  command.parse(args.split(' '), { from: 'user' });
  expect(wishesOf(command.opts())).toEqual({
    map: [
      ['user', 'uid'],
      ['item', 'sku'],
    ],
    type: 'buy',
    ratingMin: 4,
    lowType: 'view',
    separator: ';',
    delimiter: '\t',
    timeForm: 'day-first',
    encoding: 'latin1',
    hasHeader: false,
  });
});

it('takes commas and equals signs of columns for parts of their names', () => {
  expect(parseMap('user=Name, first,item=sku (a=b), time=when')).toEqual([
    ['user', 'Name, first'],
    ['item', 'sku (a=b)'],
    ['time', 'when'],
  ]);
  for (const text of ['', 'user', 'user=', '=uid', 'uid,item=sku'])
    expect(() => parseMap(text)).toThrow('expected FIELD=COLUMN');
});

it('takes for a delimiter what can part columns', () => {
  expect(['#', '::', 'tab', '\\t', '\\x01', '~|~'].map(parseDelimiter)).toEqual([
    '#',
    '::',
    '\t',
    '\t',
    '\x01',
    '~|~',
  ]);
  for (const sign of ['#', '::', '\t', '\x01', '\x1f'])
    expect(parseDelimiter(nameOfDelimiter(sign)!)).toBe(sign);
  for (const text of ['', 'x', '"', '\n', 'semicolon'])
    expect(() => parseDelimiter(text)).toThrow(/expected a sign/);
});
