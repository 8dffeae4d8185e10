/** Labels of users and items out of the files that stand beside the ratings of a set. */
import { readdirSync } from 'node:fs';
import { lines } from '../data-sets/lines.ts';
import { type Format, readText } from './load.ts';

export interface SideLabelColumns {
  readonly userLabels: readonly (readonly string[])[];
  readonly itemLabels: readonly (readonly string[])[];
}

/**
 * For `movielens` the genres of `movies.dat`. For `csv` the columns of `items.tsv` and `customers.tsv` (or `users`,
 * `.csv`): a text gives its words, a number the power of two below it, the first column is the id. A user or item that
 * stands in no file has no labels.
 */
export function readSideLabels(
  format: Format,
  folder: string,
  userIds: readonly string[],
  itemIds: readonly string[],
): SideLabelColumns {
  const items = format === 'movielens' ? /^movies\.(dat|csv)(\.gz)?$/ : /^items\.(csv|tsv)(\.gz)?$/;
  const users = /^(customers|users)\.(csv|tsv)(\.gz)?$/;
  const parse = format === 'movielens' ? parseGenres : parseColumns;
  const read = (pattern: RegExp, ids: readonly string[]) => {
    if (!readdirSync(folder).some((name) => pattern.test(name))) return ids.map(() => []);
    const labels = parse(readText(folder, pattern));
    return ids.map((id) => labels.get(id) ?? []);
  };
  return { userLabels: read(users, userIds), itemLabels: read(items, itemIds) };
}

function parseGenres(text: string): Map<string, string[]> {
  const labels = new Map<string, string[]>();
  for (const { line } of lines(text)) {
    const [id = '', , genres = ''] = line.split('::');
    labels.set(
      id,
      genres.split('|').filter((genre) => genre !== ''),
    );
  }
  return labels;
}

function parseColumns(text: string): Map<string, string[]> {
  const labels = new Map<string, string[]>();
  let names: string[] | undefined;
  for (const { line } of lines(text)) {
    const fields = line.split(line.includes('\t') ? '\t' : ',');
    if (names === undefined) {
      names = fields;
      continue;
    }
    const [id = '', ...values] = fields;
    labels.set(
      id,
      values.flatMap((value, at) => labelsOf(names?.[at + 1] ?? '', value)),
    );
  }
  return labels;
}

function labelsOf(column: string, value: string): string[] {
  if (value.trim() === '') return [];
  const number = Number(value);
  if (Number.isFinite(number)) return [`${column} ${number > 0 ? Math.floor(Math.log2(number)) : 'none'}`];
  const words = value.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => `${column} ${word}`);
}
