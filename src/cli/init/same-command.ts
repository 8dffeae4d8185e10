import type { Wishes } from '../../exchange/import-plan.ts';
import { nameOfDelimiter } from '../common/column-options.ts';
import { commandName } from '../common/command-name.ts';
import type { Answers } from './answers.ts';
import type { PlannedFile } from './files-to-import.ts';
import type { Places } from './given.ts';

/** Answers so far; the files at the least. */
export type Said = Pick<Answers, 'files'> &
  Partial<Omit<Answers, 'files'>> & { readonly takesProposals: boolean };

/** One command line that says all of it again. A key is not shown: YOUR-KEY stands for it. */
export function sameCommand(said: Said, places: Places): string {
  const { files, positiveTypes, repeatedTypes, port, apiKey, evaluates, skipsBad, sumsValues } = said;
  const args = [
    ...new Set(files.map(({ path }) => path)),
    ...(places.from === 'csv' ? [] : ['--from', places.from]),
    ...wishArguments(files),
    ...option('--positive-types', positiveTypes?.join(',')),
    ...option('--repeats', repeatedTypes && (repeatedTypes.length > 0 ? 'count' : 'first')),
    ...option('--port', port),
    ...option('--api-key', apiKey === undefined || apiKey === '' ? undefined : 'YOUR-KEY'),
    ...(evaluates ? ['--evaluate'] : []),
    ...(skipsBad ? ['--skip-bad'] : []),
    ...(sumsValues ? ['--sum-values'] : []),
    ...(places.config === 'furze.toml' ? [] : ['--config', places.config]),
    ...(places.data === './data' ? [] : ['--data', places.data]),
    ...(said.takesProposals ? ['--yes'] : []),
  ];
  return `${commandName()} init ${args.map(quoted).join(' ')}`;
}

/** Options for what is said of the files; one for each wish that any file has. */
function wishArguments(files: readonly PlannedFile[]): string[] {
  const wish = <K extends keyof Wishes>(key: K): Wishes[K] =>
    files.map(({ wishes }) => wishes[key]).find((value) => value !== undefined);
  const pairs = new Set(files.flatMap(({ wishes }) => (wishes.map ?? []).map((pair) => pair.join('='))));
  const hasHeader = wish('hasHeader');
  return [
    ...option('--map', pairs.size === 0 ? undefined : [...pairs].join(',')),
    ...option('--type', typeOf(files)),
    ...option('--positive', wish('ratingMin')),
    ...option('--low-type', wish('lowType')),
    ...option('--separator', wish('separator')),
    ...option('--delimiter', nameOfDelimiter(wish('delimiter'))),
    ...option('--time-format', wish('timeForm')),
    ...option('--encoding', wish('encoding')),
    ...option('--missing-time', wish('missingTime')),
    ...option('--leave-out', wish('leftOut') && (wish('leftOut')!.join(',') || 'none')),
    ...option('--guests', wish('guests') && (wish('guests')!.join(',') || 'none')),
    ...option('--zero-rating', wish('zeroRating')),
    ...(wish('isRaw') ? ['--raw'] : []),
    ...(hasHeader === undefined ? [] : [hasHeader ? '--header' : '--no-header']),
  ];
}

/** The type that is said of all files that have none in a column; undefined where it is guessed for each. */
export function typeOf(files: readonly PlannedFile[]): string | undefined {
  const types = new Set(files.flatMap(({ wishes }) => wishes.type ?? []));
  return types.size === 1 ? [...types][0] : undefined;
}

function option(name: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [name, String(value)];
}

/** As a shell takes it for one word. */
function quoted(word: string): string {
  return /^[\w./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
