import { cellText } from './cell-text.ts';
import type { Mapping } from './guess-columns.ts';
import type { StateColumn } from './order-states.ts';
import { type Continued, type Row, textOf } from './rows-to-records.ts';

/** Rows that go on, fewer of which may be chance. */
const CONTINUED_MIN = 2;

/**
 * Finds the column of the number of orders of which the first row alone has what is of the whole order: there is another
 * column that is empty in each row with the number of the row before, and in no other. Or the number itself stands in the
 * first row alone, as the user and the time do.
 * @returns with the number's column among those to fill where it is empty, too
 * @param rows the first rows, without names of columns
 */
export function findContinued(
  rows: readonly Row[],
  { UserId, Timestamp, Clock, ItemId }: Mapping,
  states: readonly StateColumn[],
): Continued | undefined {
  const columns = [UserId, Timestamp, Clock, ...states.map(({ at }) => at)].filter((at) => at !== undefined);
  const texts = rows.map((row) => row.map((cell) => cellText(textOf(cell))));
  const width = texts[0]?.length ?? 0;
  const all = Array.from({ length: width }, (_, at) => at);
  const lacking = columns.filter((at) => texts.some((row) => row[at] === ''));
  if (lacking.length === 0) return undefined;
  const empty = all.map((at) => texts.slice(1).map((row) => row[at] === ''));
  const key = all.find((at) => {
    const goesOn = texts.slice(1).map((row, before) => row[at] !== '' && row[at] === texts[before]![at]);
    const count = goesOn.filter(Boolean).length;
    if ([ItemId, ...columns].includes(at) || count < CONTINUED_MIN || count === goesOn.length) return false;
    // What comes again later, such as a discount of 0, is no number of an order.
    if (hasTwice(texts.slice(1).flatMap((row, before) => (goesOn[before] ? [] : [row[at]!])))) return false;
    return empty.some((cells) => cells.every((isEmpty, row) => isEmpty === goesOn[row]));
  });
  if (key !== undefined) return { key, columns: lacking };
  if (UserId === undefined || Timestamp === undefined || ItemId === undefined) return undefined;
  const isLike = (at: number, other: number) =>
    empty[at]!.every((isEmpty, row) => isEmpty === empty[other]![row]);
  const first = all.find(
    (at) =>
      ![ItemId, ...columns].includes(at) &&
      [UserId, Timestamp].every((other) => isLike(at, other)) &&
      empty[at]!.filter(Boolean).length >= CONTINUED_MIN &&
      !empty[ItemId]!.some((isEmpty, row) => isEmpty && empty[at]![row]) &&
      !hasTwice(texts.map((row) => row[at]!)),
  );
  return first === undefined ? undefined : { key: first, columns: [...lacking, first] };
}

/** True when a text that is not empty comes twice. */
function hasTwice(texts: readonly string[]): boolean {
  const given = texts.filter((text) => text !== '');
  return new Set(given).size < given.length;
}

/** Fills the rows of a file, one after the other. */
export function fillContinued({ key = 0, columns = [] }: Partial<Continued> = {}): (row: Row) => Row {
  let before: Row = [];
  return (row) => {
    const number = textOf(row[key]);
    const goesOn =
      number === '' ? columns.includes(key) : columns.length > 0 && number === textOf(before[key]);
    const isLacking = (at: number) => columns.includes(at) && cellText(textOf(row[at])) === '';
    before = goesOn ? row.map((cell, at) => (isLacking(at) ? before[at] : cell)) : row;
    return before;
  };
}
