/** What the first rows of a file tell of its columns, whose names do not. */

import { getOrPut } from '../domain/get-or-put.ts';
import { holdLists } from './cell-lists.ts';
import { cellText } from './cell-text.ts';
import { isSentence, plainName } from './column-names.ts';
import type { Kind, Mapping } from './guess-columns.ts';
import { countIn, keyBesideTitles, likelyKey, likelyUser, MADE_BY } from './keys-by-content.ts';
import { textsOf } from './read-rows.ts';
import type { Row } from './rows-to-records.ts';
import { columnsOfWords } from './wide-tables.ts';

/** The column of users or items, where the other ones are known alone or neither are: then of users; of items first a key beside their titles. */
export function otherKey(
  columns: readonly string[],
  body: readonly Row[],
  { Comment: _, ...keys }: Mapping,
  titleAt: number | undefined,
  wished?: Kind,
): string | undefined {
  if (keys.UserId !== undefined && keys.ItemId !== undefined) return undefined;
  const rows = [columns, ...body.map((row) => textsOf(row).map(cellText))];
  if (columnsOfWords(rows).length > 0) return undefined;
  const taken = Object.values(keys);
  if (keys.UserId === undefined && keys.ItemId === undefined)
    return wished === undefined || wished === 'feedback' ? likelyUser(rows, taken) : undefined;
  const isTitled =
    keys.UserId !== undefined &&
    titleAt !== undefined &&
    !isSentence(columns[titleAt]!) &&
    !isNameOfUsers(rows, keys.UserId, titleAt);
  const titled = isTitled ? keyBesideTitles(rows, titleAt, taken) : undefined;
  const known = [keys.UserId ?? keys.ItemId, keys.Timestamp].filter((at) => at !== undefined);
  return titled ?? likelyKey(rows, known, taken);
}

/** True for names of which each user that comes again has one. */
function isNameOfUsers([, ...rows]: readonly (readonly string[])[], user: number, name: number): boolean {
  const users = countIn(rows, user);
  return users < rows.length && countIn(rows, user, name) === users;
}

/** Fewer items that come in several rows do not tell that a column is of something else. */
const SEVERAL_MIN = 10;

/**
 * The columns that tell nothing of items: of several values for more than half of the items that come in several of the first rows, or
 * with one for all items.
 */
export function unsteadyIn(rows: readonly Row[], itemAt: number | undefined): number[] {
  if (itemAt === undefined) return [];
  const items = new Map<string, string[][]>();
  for (const row of rows) {
    const texts = textsOf(row).map(cellText);
    if (texts[itemAt]) getOrPut(items, texts[itemAt], () => []).push(texts);
  }
  const all = [...items.values()];
  const several = all.filter((each) => each.length > 1);
  if (all.length < SEVERAL_MIN) return [];
  return Array.from({ length: rows[0]!.length }, (_, at) => at).filter((at) => {
    const varying = several.filter((each) => new Set(each.map((row) => row[at]).filter(Boolean)).size > 1);
    return (
      (several.length >= SEVERAL_MIN && varying.length * 2 > several.length) ||
      new Set(all.flat().map((row) => row[at])).size === 1
    );
  });
}

/** Keys and addresses have fewer blanks than titles, and what several items share is the title of none. */
const [BLANKS_SHARE, TITLES_SHARE] = [0.5, 0.9];

/** The column of titles that its name does not tell: a text of its own for each item, in words. */
export function titleOfItems(
  columns: readonly string[],
  body: readonly Row[],
  itemAt: number | undefined,
  taken: readonly number[],
): number | undefined {
  const rows = body.map((row) => textsOf(row).map(cellText)).filter((row) => row[itemAt ?? -1]);
  const items = countIn(rows, itemAt ?? -1);
  if (items < SEVERAL_MIN || items === rows.length) return undefined;
  return [...rows[0]!.keys()].find((at) => {
    const texts = rows.map((row) => row[at] ?? '');
    const titles = new Set(texts).size;
    return (
      !taken.includes(at) &&
      !/^aut(?:h?or)/.test(plainName(columns[at]!)) &&
      !MADE_BY.test(plainName(columns[at]!)) &&
      texts.every((text) => /\p{L}{2}/u.test(text) && !/[@{[]|:\/\//.test(text)) &&
      texts.filter((text) => text.includes(' ')).length > BLANKS_SHARE * texts.length &&
      countIn(rows, itemAt!, at) === items &&
      titles <= items &&
      titles > TITLES_SHARE * items
    );
  });
}

/** Why no column has the items: free ones have lists of them, or there is one with an answer for each; empty where none has. */
export function whyNoItems(columns: readonly string[], body: readonly Row[], used: Mapping): string {
  if (used.ItemId !== undefined) return '';
  const rows = [columns, ...body.map((row) => textsOf(row).map(cellText))];
  const [answer, ...more] = columnsOfWords(rows);
  if (answer !== undefined)
    return `: "${columns[answer]}" and ${more.length} more columns have the same few words, as with a column for each item; write a row for each cell, with the user, the item and a number for the word`;
  const isFree = (at: number) => at === used.Comment || !Object.values(used).includes(at);
  const lists = columns.filter((_, at) => isFree(at) && holdLists(rows.slice(1).map((row) => row[at]!)));
  if (lists.length === 0) return '';
  return `: "${lists.join('", "')}" ${lists.length === 1 ? 'has' : 'have'} a list in a cell, where a row is needed for each of the list`;
}
