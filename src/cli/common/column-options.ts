import { type Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_LIMITS } from '../../domain/request-limits.ts';
import { TEXT_ENCODINGS } from '../../exchange/guess-encoding.ts';
import type { Wishes } from '../../exchange/import-plan.ts';
import type { ColumnPairs } from '../../exchange/map-columns.ts';
import { TIME_FORMS } from '../../exchange/time-formats.ts';
import { parseNumber } from './options.ts';

/** Options of the command line for making records of files. */
export interface ColumnFlags {
  readonly map?: ColumnPairs;
  readonly type?: string;
  readonly positive?: number;
  readonly lowType?: string;
  readonly separator?: string;
  readonly delimiter?: string;
  readonly timeFormat?: Wishes['timeForm'];
  readonly encoding?: Wishes['encoding'];
  readonly header?: boolean;
  readonly sumValues?: boolean;
  readonly raw?: boolean;
  readonly missingTime?: 'refuse' | 'now';
  readonly leaveOut?: readonly string[];
  readonly guests?: readonly string[];
  readonly zeroRating?: Wishes['zeroRating'];
}

/** Adds the options that say what the columns of files are and how their cells are read. */
export function addColumnOptions(command: Command): Command {
  return command
    .option(
      '--map <pairs>',
      'columns by field, such as user=uid,item=sku,time=ts or item=sku,title=name',
      parseMap,
    )
    .option('--type <name>', 'type of feedback without a type column', parseType)
    .option(
      '--positive <rating>',
      'ratings from here on are of --type, lower ones of --low-type',
      parseNumber,
    )
    .option('--low-type <name>', 'type of feedback with a lower rating', parseType)
    .option(
      '--separator <text>',
      'what stands between labels in one cell (default: |, or ; where no cell has a bar)',
    )
    .option(
      '--delimiter <sign>',
      'what stands between columns, such as # or tab, where it is not found',
      parseDelimiter,
    )
    .addOption(new Option('--time-format <form>', 'how times are written').choices(TIME_FORMS))
    .addOption(
      new Option('--missing-time <what>', 'feedback without a time among feedback with times').choices([
        'refuse',
        'now',
      ]),
    )
    .option(
      '--leave-out <states>',
      'states of orders, such as cancelled,returned, whose rows are left out, or none (default: those that are known)',
      parseStates,
    )
    .option(
      '--guests <ids>',
      'ids of users that are all guests together, such as 0,guest, whose feedback is left out, or none',
      parseStates,
    )
    .addOption(
      new Option('--zero-rating <what>', 'whether a rating of 0 is the lowest or none was given').choices([
        'lowest',
        'none',
      ]),
    )
    .addOption(new Option('--encoding <name>', 'of files that are not UTF-8').choices(TEXT_ENCODINGS))
    .option(
      '--sum-values',
      'add up the values of rows of one user, item and type, as quantities with returns',
    )
    .option('--raw', 'take the cells of an exported CSV file as export --raw has written them')
    .option('--header', 'the first row names the columns')
    .option('--no-header', 'the first row is data');
}

/** The same as the exchange layer takes it. */
export function wishesOf(flags: ColumnFlags): Wishes {
  const { map, type, lowType, separator, delimiter, encoding } = flags;
  return {
    ...{ map, type, lowType, separator, delimiter, encoding },
    ratingMin: flags.positive,
    leftOut: flags.leaveOut,
    guests: flags.guests,
    zeroRating: flags.zeroRating,
    timeForm: flags.timeFormat,
    hasHeader: flags.header,
    isRaw: flags.raw,
    missingTime: flags.missingTime === 'now' ? flags.missingTime : undefined,
  };
}

/**
 * Reads `user=uid,item=sku`, after what an earlier option said. A comma that no field follows is part of a column's name.
 * @throws InvalidArgumentError
 */
export function parseMap(text: string, before: ColumnPairs = []): ColumnPairs {
  const pairs = text.split(/,(?=\s*\w+=)/).map((pair) => {
    const [, field, column] = /^\s*(\w+)=(.+)$/s.exec(pair) ?? [];
    if (field === undefined || column === undefined)
      throw new InvalidArgumentError('expected FIELD=COLUMN, several with commas between them');
    return [field, column] as const;
  });
  return [...before, ...pairs];
}

/** A name of a feedback type as the store takes it. @throws InvalidArgumentError */
function parseType(text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes > 0 && bytes <= DEFAULT_LIMITS.idBytesMax && !text.includes('\0')) return text;
  throw new InvalidArgumentError(`expected a name of 1 to ${DEFAULT_LIMITS.idBytesMax} bytes`);
}

/** Reads states or ids with commas between them; `none` is an empty list. */
export function parseStates(text: string): readonly string[] {
  return text === 'none' ? [] : splitList(text);
}

/** Reads a list with commas between its entries. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** Reads a sign, `tab`, or a sign by its number as in `\x01`. @throws InvalidArgumentError for what cannot part columns */
export function parseDelimiter(text: string): string {
  const sign = text
    .replace(/^(?:tab|\\t)$/i, '\t')
    .replace(/^\\x([\da-f]{2})$/i, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  if (/^[^\p{L}\p{N}"\r\n\uFEFF]+$/u.test(sign)) return sign;
  throw new InvalidArgumentError('expected a sign such as # or ;, tab, or one by its number such as \\x01');
}

/** A delimiter as `parseDelimiter` reads it. */
export function nameOfDelimiter(sign: string | undefined): string | undefined {
  if (sign === undefined || sign > '\x1f') return sign;
  return sign === '\t' ? 'tab' : `\\x${sign.charCodeAt(0).toString(16).padStart(2, '0')}`;
}
