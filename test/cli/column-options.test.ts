import { Command } from 'commander';
import { expect, it } from 'vitest';
import { addColumnOptions, wishesOf } from '../../src/cli/column-options.ts';

it('takes every option by which the columns of a file are told', () => {
  const command = addColumnOptions(new Command('import'));
  const args =
    '--map user=uid --map item=sku --type buy --positive 4 --low-type view --separator ; --time-format day-first --encoding latin1 --no-header';
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
    timeForm: 'day-first',
    encoding: 'latin1',
    hasHeader: false,
  });
});
