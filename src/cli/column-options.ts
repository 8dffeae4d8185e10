import { type Command, InvalidArgumentError, Option } from 'commander';
import { TEXT_ENCODINGS } from '../exchange/open-text.ts';
import type { ColumnPairs, Wishes } from '../exchange/plan.ts';
import { TIME_FORMS } from '../exchange/time-forms.ts';
import { parseNumber } from './options.ts';

/** What the command line says of how files become records. */
export interface ColumnFlags {
  readonly map?: ColumnPairs;
  readonly type?: string;
  readonly positive?: number;
  readonly lowType?: string;
  readonly separator?: string;
  readonly timeFormat?: Wishes['timeForm'];
  readonly encoding?: Wishes['encoding'];
  readonly header?: boolean;
}

/** Adds the options that say what the columns of files are and how their cells are read. */
export function addColumnOptions(command: Command): Command {
  return command
    .option('--map <pairs>', 'columns by field, such as user=uid,item=sku,time=ts,rating=stars', parseMap)
    .option('--type <name>', 'type of feedback without a type column')
    .option(
      '--positive <rating>',
      'ratings from here on are of --type, lower ones of --low-type',
      parseNumber,
    )
    .option('--low-type <name>', 'type of feedback with a lower rating')
    .option('--separator <text>', 'what stands between labels in one cell (default: |)')
    .addOption(new Option('--time-format <form>', 'how times are written').choices(TIME_FORMS))
    .addOption(new Option('--encoding <name>', 'of files that are not UTF-8').choices(TEXT_ENCODINGS))
    .option('--header', 'the first row names the columns')
    .option('--no-header', 'the first row is data');
}

/** The same as the exchange layer takes it. */
export function wishesOf(flags: ColumnFlags): Wishes {
  const { map, type, lowType, separator, timeFormat, encoding, header, positive } = flags;
  return {
    ...{ map, type, ratingMin: positive, lowType, separator },
    ...{ timeForm: timeFormat, encoding, hasHeader: header },
  };
}

/** Reads `user=uid,item=sku`, after what an earlier option said. @throws InvalidArgumentError */
export function parseMap(text: string, before: ColumnPairs = []): ColumnPairs {
  const pairs = text.split(',').map((pair) => {
    const [field = '', column = '', ...rest] = pair.split('=');
    if (field === '' || column === '' || rest.length > 0)
      throw new InvalidArgumentError('expected FIELD=COLUMN, several with commas between them');
    return [field, column] as const;
  });
  return [...before, ...pairs];
}
