import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { OperatorError } from '../domain/operator-error.ts';
import type { Kind } from './guess-columns.ts';
import type { FilePlan, Wishes } from './import-plan.ts';
import { NO_GENRES, type Row } from './rows-to-records.ts';

export const PRESETS = ['csv', 'movielens', 'gorse'] as const;
export type Preset = (typeof PRESETS)[number];

/** A file of a data set that is known by its name. */
interface KnownFile {
  readonly name: RegExp;
  readonly kind: Kind;
  readonly plan?: Partial<FilePlan>;
}

/** Genres of MovieLens 100K in the order of the last columns of `u.item`, and how many columns stand between the title and them. */
const GENRES =
  `unknown Action Adventure Animation Children's Comedy Crime Documentary Drama Fantasy Film-Noir Horror Musical Mystery
  Romance Sci-Fi Thriller War Western`.split(/\s+/);
const FIRST_GENRE = 3;
const YEAR = /\((\d{4})\)\s*$/;

/** A film's columns: id, title, date, genres twice. */
const FILM_COLUMNS = ['id', 'title', 'year', 'genres', 'genres'];
const FILM_MAPPING = { ItemId: 0, Comment: 1, Timestamp: 2, Categories: 3, Labels: 4 };
const FILM = {
  columns: FILM_COLUMNS,
  mapping: FILM_MAPPING,
  timeForm: 'date',
  separator: '|',
} as const satisfies Partial<FilePlan>;

function film(id: unknown, title: unknown, genres: readonly unknown[]): Row {
  const year = YEAR.exec(String(title))?.[1];
  const known = genres.filter((genre) => genre !== '' && genre !== NO_GENRES);
  return [id, title, year === undefined ? '' : `${year}-01-01`, known, known];
}

/** A file without names of columns and without quotes. */
const bare = (name: RegExp, kind: Kind, delimiter: string, plan: Partial<FilePlan>): KnownFile => {
  const format = { name: 'delimited', delimiter, isQuoted: false, newline: '\n' } as const;
  return { name, kind, plan: { hasHeader: false, encoding: 'latin1', format, ...plan } };
};
const USER = { columns: ['user', 'labels'], mapping: { UserId: 0, Labels: 1 } } as const;
const reshapeFilm = ([id, title, genres]: Row) => film(id, title, String(genres).split('|'));

const MOVIELENS: readonly KnownFile[] = [
  bare(/^u\.user$/, 'users', '|', { ...USER, reshape: ([id, , gender, job]) => [id, [gender, job]] }),
  bare(/^users\.dat$/, 'users', '::', { ...USER, reshape: ([id, gender]) => [id, [gender]] }),
  bare(/^u\.item$/, 'items', '|', {
    ...FILM,
    reshape: ([id, title, ...rest]) =>
      film(
        id,
        title,
        GENRES.filter((_, at) => rest[FIRST_GENRE + at] === '1'),
      ),
  }),
  bare(/^movies\.dat$/, 'items', '::', { ...FILM, reshape: reshapeFilm }),
  {
    name: /^movies\.csv$/,
    kind: 'items',
    plan: {
      ...FILM,
      hasHeader: true,
      format: { name: 'delimited', delimiter: ',', isQuoted: true, newline: '\n' },
      reshape: reshapeFilm,
    },
  },
  bare(/^u\.data$/, 'feedback', '\t', {
    columns: ['user', 'item', 'rating', 'seconds'],
    mapping: { UserId: 0, ItemId: 1, Rating: 2, Timestamp: 3 },
    timeForm: 'seconds',
  }),
  { name: /^ratings\.(dat|csv)$/, kind: 'feedback' },
];

const GORSE: readonly KnownFile[] = (['users', 'items', 'feedback'] as const).map((kind) => ({
  name: new RegExp(`^${kind}\\.(csv|tsv)$`),
  kind,
}));

/** Ratings of films from 4 on, of 5, count as liked. */
const MOVIELENS_RATING_MIN = 4;

const FILES: Readonly<Record<Preset, readonly KnownFile[]>> = { csv: [], movielens: MOVIELENS, gorse: GORSE };

/** A file to import, with what its data set says of it. */
export interface PresetFile {
  readonly path: string;
  readonly wishes: Wishes;
  readonly plan?: Partial<FilePlan>;
}

/**
 * The files to import in their order: users and items before feedback.
 * @param inputs files, or for a data set with known names its folder
 * @throws OperatorError when a folder holds none of them or a file is named twice
 */
export function resolveInputs(preset: Preset, inputs: readonly string[], wishes: Wishes): PresetFile[] {
  const known = FILES[preset];
  const files = inputs.flatMap((input) => {
    if (!existsSync(input) || !statSync(input).isDirectory()) return [input];
    const names = readdirSync(input).filter((name) =>
      known.some((file) => file.name.test(withoutPacking(name))),
    );
    if (names.length > 0) return names.map((name) => join(input, name));
    throw new OperatorError(
      known.length === 0
        ? `${input} is a folder; name the files in it, or say --from movielens or --from gorse`
        : `${input} holds no file that ${preset} is known for`,
    );
  });
  const places = files.map((path) => (existsSync(path) ? realpathSync(path) : path));
  const again = places.findIndex((place, at) => places.indexOf(place) < at);
  if (again >= 0) throw new OperatorError(`${files[again]} is named twice; name each file once`);
  const order: readonly Kind[] = ['users', 'items', 'feedback'];
  return files
    .map((path) => presetFile(preset, path, wishes))
    .sort((a, b) => order.indexOf(a.wishes.kind ?? 'feedback') - order.indexOf(b.wishes.kind ?? 'feedback'));
}

function presetFile(preset: Preset, path: string, wishes: Wishes): PresetFile {
  const known = FILES[preset].find(({ name }) => name.test(withoutPacking(basename(path))));
  if (known === undefined) return { path, wishes };
  const ratingMin = wishes.ratingMin ?? (preset === 'movielens' ? MOVIELENS_RATING_MIN : undefined);
  return { path, wishes: { ...wishes, kind: wishes.kind ?? known.kind, ratingMin }, plan: known.plan };
}

function withoutPacking(name: string): string {
  return name.replace(/\.(gz|zst)$/, '');
}
