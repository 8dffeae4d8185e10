/**
 * What the columns of a file of users, items or feedback mean, told by their names or by their first values. Used by the
 * command line and by the dashboard.
 */

/** What a file holds. */
export type Kind = 'users' | 'items' | 'feedback';

/** The fields that a column of a file may become. */
export const FIELDS: Readonly<Record<Kind, readonly string[]>> = {
  users: ['UserId', 'Labels', 'Comment', 'Subscribe'],
  items: ['ItemId', 'Comment', 'Categories', 'Labels', 'Timestamp', 'IsHidden'],
  feedback: ['UserId', 'ItemId', 'FeedbackType', 'Timestamp', 'Rating', 'Value', 'Comment'],
};
export const REQUIRED: Readonly<Record<Kind, readonly string[]>> = {
  users: ['UserId'],
  items: ['ItemId'],
  feedback: ['UserId', 'ItemId'],
};

/** Names of columns that are understood, in small letters without blanks, dashes and underscores. */
export const COLUMN_NAMES: Readonly<Record<string, readonly string[]>> = {
  UserId: [
    'userid',
    'user',
    'uid',
    'userno',
    'username',
    'customerid',
    'customer',
    'customernumber',
    'customerno',
    'clientid',
    'buyerid',
    'accountid',
    'personid',
    'reviewerid',
    'visitorid',
    'visitor',
    'memberid',
    'member',
    'sessionid',
  ],
  ItemId: [
    'itemid',
    'item',
    'iid',
    'movieid',
    'movie',
    'filmid',
    'film',
    'productid',
    'product',
    'productcode',
    'productno',
    'sku',
    'asin',
    'isbn',
    'articleid',
    'article',
    'articleno',
    'articlenumber',
    'itemno',
    'itemnumber',
    'bookid',
    'book',
    'trackid',
    'songid',
    'artistid',
    'videoid',
    'gameid',
    'stockcode',
  ],
  FeedbackType: ['feedbacktype', 'type', 'event', 'eventtype', 'action', 'behavior', 'interaction'],
  Timestamp: ['timestamp', 'time', 'ts', 'date', 'datetime', 'createdat', 'created', 'when', 'eventtime'],
  Rating: ['rating', 'score', 'stars', 'preference'],
  Value: ['value', 'amount', 'quantity'],
  Comment: ['comment', 'title', 'name', 'description'],
  Categories: ['categories', 'category', 'genres', 'genre'],
  Labels: ['labels', 'label', 'tags', 'tag', 'keywords'],
  IsHidden: ['ishidden', 'hidden'],
  Subscribe: ['subscribe', 'subscriptions'],
};

/** Field by column number; a column without one is passed over. */
export type Mapping = Readonly<Record<string, number>>;

/** How the first rows of a file are to be read. */
export interface Guess {
  readonly kind: Kind;
  readonly hasHeader: boolean;
  readonly mapping: Mapping;
}

/** The field that a column's name means. */
function fieldOf(name: string): string | undefined {
  const plain = name.toLowerCase().replace(/[^a-z]/g, '');
  return Object.keys(COLUMN_NAMES).find((field) => COLUMN_NAMES[field]!.includes(plain));
}

/** Tells by the first rows what a file holds and which column is what. */
export function guess(rows: readonly (readonly string[])[]): Guess {
  const first = rows[0] ?? [];
  const fields = first.map(fieldOf);
  const named = fields.filter((field) => field !== undefined).length;
  if (named === 0 || first.some(isValue))
    return { kind: 'feedback', hasHeader: false, mapping: byPlace(rows) };
  const mapping: Record<string, number> = {};
  const withPlainId = fields.includes('UserId') || fields.includes('ItemId');
  fields.forEach((field, at) => {
    if (field !== undefined) mapping[field] ??= at;
  });
  if (!('Timestamp' in mapping)) {
    const at = timeColumn(rows, fields);
    if (at >= 0) mapping.Timestamp = at;
  }
  const kind: Kind =
    'UserId' in mapping && 'ItemId' in mapping ? 'feedback' : 'ItemId' in mapping ? 'items' : 'users';
  // A file of items or users calls its key just "id".
  const id = first.findIndex((name) => name.trim().toLowerCase() === 'id');
  if (!withPlainId && id >= 0) {
    const isItems = ['Categories', 'Comment', 'Timestamp'].some((field) => field in mapping);
    return {
      kind: isItems ? 'items' : 'users',
      hasHeader: true,
      mapping: { ...mapping, [isItems ? 'ItemId' : 'UserId']: id },
    };
  }
  return { kind, hasHeader: true, mapping };
}

/** What no column is called: a number, or a date. */
function isValue(cell: string): boolean {
  return timeUnit([cell]) !== undefined || (cell.trim() !== '' && Number.isFinite(Number(cell)));
}

/** How names of columns of times end. */
const TIME_NAME = /(?:date|time|stamp|[ _-]at|[a-z]At|[ _-](?:on|ts|utc))$/i;

/** The first column whose name speaks of a time, such as `InvoiceDate` or `purchased_at`, and which holds nothing else. */
function timeColumn(
  [names = [], ...body]: readonly (readonly string[])[],
  fields: readonly (string | undefined)[],
): number {
  return names.findIndex(
    (name, at) =>
      fields[at] === undefined &&
      TIME_NAME.test(name.trim()) &&
      timeUnit(body.map((row) => row[at] ?? '')) !== undefined,
  );
}

/** Without names: user, item, then a small number is a rating and a large one or a date is a time. */
function byPlace(rows: readonly (readonly string[])[]): Mapping {
  const mapping: Record<string, number> = { UserId: 0, ItemId: 1 };
  const width = rows[0]?.length ?? 0;
  for (let at = 2; at < width; at++) {
    const values = rows.map((row) => row[at] ?? '').filter((value) => value !== '');
    if (values.length === 0) continue;
    if (timeUnit(values) !== undefined) mapping.Timestamp ??= at;
    else if (values.every((value) => Number.isFinite(Number(value)))) mapping.Rating ??= at;
    else mapping.FeedbackType ??= at;
  }
  return mapping;
}

export type TimeUnit = 'seconds' | 'milliseconds' | 'date';

/** How a whole column writes times; undefined when it holds none. Told by the column, never by one value. */
export function timeUnit(values: readonly string[]): TimeUnit | undefined {
  const given = values.filter((value) => value !== '');
  if (given.length === 0) return undefined;
  const numbers = given.map(Number);
  if (numbers.every(Number.isFinite)) {
    const most = Math.max(...numbers);
    if (most < 1e8) return undefined;
    return most < 1e11 ? 'seconds' : 'milliseconds';
  }
  return given.every((value) => /^\d{4}-\d{2}-\d{2}/.test(value)) ? 'date' : undefined;
}
