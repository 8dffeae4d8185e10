import { OperatorError } from '../domain/operator-error.ts';
import { COLUMN_NAMES } from './column-names.ts';
import { FIELDS, guess, type Kind, type Mapping, REQUIRED } from './guess-columns.ts';
import { OpenReading } from './open-reading.ts';

/** Fields, by any of their names, and their columns, by name or by number from 1. */
export type ColumnPairs = readonly (readonly [field: string, column: string])[];

/** Column pairs said before, but for the fields that an answer names anew. */
export function withPairs(before: ColumnPairs = [], said: ColumnPairs): ColumnPairs {
  return [...before.filter(([field]) => !said.some(([name]) => name === field)), ...said];
}

/** The columns of a file of a kind. */
export interface Columns {
  readonly path: string;
  readonly kind: Kind;
  readonly columns: readonly string[];
}

/** The kind of a file with columns of these names, some of which `map` names. */
export function kindOfColumns(names: readonly string[], map: ColumnPairs): Kind {
  const { kind, mapping } = guess([names], true);
  return kindByFields(kind, mapping, map);
}

/** The kind of a file whose columns were guessed or named: with a user and an item a row feedback, with one of them that. */
export function kindByFields(guessed: Kind, mapping: Mapping, wished: ColumnPairs = []): Kind {
  const names = wished.map(([name]) => name.toLowerCase());
  const isWished = (field: string, short: string) =>
    names.includes(field.toLowerCase()) || names.includes(short);
  const [user, item] = [isWished('UserId', 'user'), isWished('ItemId', 'item')];
  const hasUser = user || mapping.UserId !== undefined;
  const hasItem = item || mapping.ItemId !== undefined;
  if (hasUser && hasItem) return 'feedback';
  if (user) return 'users';
  return item ? 'items' : guessed;
}

/**
 * The column of each field, as guessed where it was not named.
 * @param fault of a file that is parted wrongly, so that columns are missing
 * @returns in a file of feedback also the columns that were named of its items, with the item's own
 * @throws OperatorError where a named one is not there
 */
export function mapColumns(
  file: Columns,
  guessed: Mapping,
  wished: ColumnPairs = [],
  fault?: OpenReading,
): { readonly mapping: Mapping; readonly itemFields?: Mapping } {
  const ofItems = wished.filter(([name]) => file.kind === 'feedback' && isOfItems(name));
  const own = wished.filter((pair) => !ofItems.includes(pair));
  const mapping = mappingOf(file, guessed, own, fault);
  if (ofItems.length === 0) return { mapping };
  const key: Mapping = mapping.ItemId === undefined ? {} : { ItemId: mapping.ItemId };
  return { mapping, itemFields: mappingOf({ ...file, kind: 'items' }, key, ofItems, fault) };
}

function mappingOf(
  { path, kind, columns }: Columns,
  guessed: Mapping,
  wished: ColumnPairs,
  fault: OpenReading | undefined,
): Mapping {
  const mapping: Record<string, number> = {};
  for (const field of FIELDS[kind]) {
    const at = guessed[field];
    if (at !== undefined && at < columns.length) mapping[field] = at;
  }
  const named = new Map<string, string>();
  for (const [name, column] of wished) {
    const field = fieldNamed(kind, name);
    if (field === undefined) throw new OperatorError(noField(path, kind, name));
    const at = columns.indexOf(column) >= 0 ? columns.indexOf(column) : Number(column) - 1;
    if (columns[at] === undefined) {
      throw fault ?? new OperatorError(`${path} has no column "${column}"; it has ${columns.join(', ')}`);
    }
    const other = named.get(field);
    if (other !== undefined && mapping[field] !== at)
      throw new OperatorError(`${path} has both "${other}" and "${column}", which --map names for ${field}`);
    named.set(field, column);
    mapping[field] = at;
  }
  // A clock that was found is of the days that were found.
  if (mapping.Timestamp !== guessed.Timestamp && !named.has('Clock')) delete mapping.Clock;
  return mapping;
}

/** Why the columns are not enough for rows of their kind; undefined where they are. @param likely the column that may have the missing key */
export function whyLacking(
  {
    path,
    kind,
    columns,
    mapping,
    noItems = '',
  }: Columns & { mapping: Mapping; noItems?: string | undefined },
  likely = '',
  fault?: OpenReading,
): OperatorError | undefined {
  const hasNone = mapping.UserId === undefined && mapping.ItemId === undefined;
  const field =
    hasNone && likely !== '' ? 'UserId' : REQUIRED[kind].find((each) => mapping[each] === undefined);
  if (field !== undefined) {
    const short = field === 'UserId' ? 'user' : 'item';
    // Without a user, what has an item is a file of items, where feedback is wanted.
    const what = REQUIRED[kind].includes(field) ? kind : 'feedback';
    const finding = `${path}: no column looks like the ${field} of ${what}${noItems}`;
    const advice = `; name it with --map ${short}=COLUMN. The columns are ${columns.join(', ')}`;
    return fault ?? new OpenReading(short, finding, advice, columns.join(', '), likely);
  }
  const { UserId: user, ItemId: item } = mapping;
  if (user === undefined || user !== item) return undefined;
  return new OperatorError(
    `${path}: user and item are both from the column "${columns[user]}"; name another of the columns ${columns.join(', ')} for one of them with --map`,
  );
}

const SHORT_NAMES: Readonly<Record<string, string>> = {
  user: 'UserId',
  item: 'ItemId',
  type: 'FeedbackType',
  time: 'Timestamp',
  state: 'State',
};

/** The field that a name on the command line means: `user`, `UserId`, `time`, `type`, or as a column may be called. */
export function fieldNamed(kind: Kind, name: string): string | undefined {
  const plain = name.toLowerCase();
  const field =
    FIELDS[kind].find((candidate) => candidate.toLowerCase() === plain) ??
    SHORT_NAMES[plain] ??
    FIELDS[kind].find((candidate) => COLUMN_NAMES[candidate]?.includes(plain));
  return field !== undefined && FIELDS[kind].includes(field) ? field : undefined;
}

/** True for a name that means a field of items and none of feedback, whose comments are no titles. */
function isOfItems(name: string): boolean {
  const field = fieldNamed('items', name);
  return field === 'Comment'
    ? name.toLowerCase() !== 'comment'
    : field === 'Categories' || field === 'Labels';
}

/** @throws OperatorError where columns of items are named in a file of feedback, of which an import takes the feedback alone */
export function refuseItemFields({ path, columns }: Columns, itemFields: Mapping | undefined): void {
  const { Comment, Categories, Labels } = itemFields ?? {};
  const at = Comment ?? Categories ?? Labels;
  if (at === undefined) return;
  throw new OperatorError(
    `${path} was taken for feedback, and "${columns[at]}" of --map is of items: "furze import items" takes those out of it`,
  );
}

function noField(path: string, kind: Kind, name: string): string {
  const isOfFeedback = kind !== 'feedback' && fieldNamed('feedback', name) !== undefined;
  const missing = kind === 'users' ? 'item' : 'user';
  const advice = isOfFeedback
    ? `. If it is feedback, name its column of ${missing}s, too (--map ${missing}=COLUMN); otherwise import it by itself`
    : '';
  return `${path} was taken for ${kind}, and ${kind} have no field "${name}" of --map; they have ${FIELDS[kind].join(', ')}${advice}`;
}
