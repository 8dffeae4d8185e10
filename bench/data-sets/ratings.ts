/**
 * Rating files with ids of any text: MovieLens `ratings.dat` (`user::item::rating::seconds`, also the form of
 * MovieTweetings), MovieLens `ratings.csv`, and other separated files with or without a header.
 */
import { finiteNumber, lines, refuseLine } from './lines.ts';

/** Records as columns, with the ids in the order of their first appearance: row r is `userIds[r]`. */
export interface RatingRecords {
  readonly userIds: readonly string[];
  readonly itemIds: readonly string[];
  readonly userRows: readonly number[];
  readonly itemRows: readonly number[];
  /** 1 where the file has no such column. */
  readonly ratings: readonly number[];
  /** In the file's own unit; 0 where it has none. */
  readonly times: readonly number[];
}

/** Which columns (from 0) hold what; a rating or time column below 0 is absent. */
export interface RatingFormat {
  readonly separator: string;
  readonly user: number;
  readonly item: number;
  readonly rating: number;
  readonly time: number;
}

const FOUR_COLUMNS = { user: 0, item: 1, rating: 2, time: 3 } as const;

/**
 * Reads a rating file; without a format it is told from the first line: `::`, tab, `;` or comma, and columns
 * by the header's names when it has one, else user, item, rating, time as far as they go.
 * @throws FurzeError BAD_REQUEST that names a line with too few fields or a rating that is no number
 */
export function parseRatings(text: string, given?: RatingFormat): RatingRecords {
  const records = {
    userRows: [] as number[],
    itemRows: [] as number[],
    ratings: [] as number[],
    times: [] as number[],
  };
  const users = new Map<string, number>();
  const items = new Map<string, number>();
  let format = given;
  for (const { number, line } of lines(text)) {
    if (format === undefined) {
      const detected = detectFormat(line);
      format = detected.format;
      if (detected.isHeader) continue;
    }
    const fields = line.split(format.separator);
    const userId = fields[format.user];
    const itemId = fields[format.item];
    if (!userId || !itemId) refuseLine(number, 'a rating needs a user and an item');
    records.userRows.push(rowOf(users, userId));
    records.itemRows.push(rowOf(items, itemId));
    records.ratings.push(format.rating < 0 ? 1 : finiteNumber(fields[format.rating], number));
    records.times.push(format.time < 0 ? 0 : timeOf(fields[format.time], number));
  }
  return { ...records, userIds: [...users.keys()], itemIds: [...items.keys()] };
}

function rowOf(rows: Map<string, number>, id: string): number {
  const known = rows.get(id);
  if (known !== undefined) return known;
  rows.set(id, rows.size);
  return rows.size - 1;
}

/** A number, or a date that is read as milliseconds. */
function timeOf(field: string | undefined, lineNumber: number): number {
  if (field?.includes('-', 1)) {
    const time = Date.parse(field);
    if (!Number.isNaN(time)) return time;
  }
  return finiteNumber(field, lineNumber);
}

const USER_NAMES = /^(user(_?id)?|customer_?id|u)$/i;
const ITEM_NAMES = /^(item(_?id)?|movie(_?id)?|product_?id|stockcode|i)$/i;
const RATING_NAMES = /^(rating|score|value)$/i;
const TIME_NAMES = /^(time|timestamp|ts|date|seconds)$/i;

function detectFormat(line: string): { format: RatingFormat; isHeader: boolean } {
  const separator = ['::', '\t', ';', ','].find((candidate) => line.includes(candidate)) ?? ',';
  const fields = line.split(separator).map((field) => field.trim());
  const user = fields.findIndex((name) => USER_NAMES.test(name));
  const item = fields.findIndex((name) => ITEM_NAMES.test(name));
  if (user >= 0 && item >= 0) {
    const rating = fields.findIndex((name) => RATING_NAMES.test(name));
    const time = fields.findIndex((name) => TIME_NAMES.test(name));
    return { format: { separator, user, item, rating, time }, isHeader: true };
  }
  const rating = fields.length > 2 ? FOUR_COLUMNS.rating : -1;
  const time = fields.length > 3 ? FOUR_COLUMNS.time : -1;
  return { format: { separator, user: 0, item: 1, rating, time }, isHeader: false };
}
