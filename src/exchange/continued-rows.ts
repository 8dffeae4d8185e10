import { cellText } from './cell-text.ts';
import type { Mapping } from './guess-columns.ts';
import type { StateColumn } from './order-states.ts';
import { type Continued, type Row, textOf } from './rows-to-records.ts';

/** Rows that go on, fewer of which may be chance. */
const CONTINUED_MIN = 2;

/**
 * Finds the column of the number of orders of which the first row alone has what is of the whole order: there is another
 * column that is empty in each row with the number of the row before, and in no other.
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
    return empty.some((cells) => cells.every((isEmpty, row) => isEmpty === goesOn[row]));
  });
  return key === undefined ? undefined : { key, columns: lacking };
}

/** Fills the rows of a file, one after the other. */
export function fillContinued({ key = 0, columns = [] }: Partial<Continued> = {}): (row: Row) => Row {
  let before: Row = [];
  return (row) => {
    const goesOn = columns.length > 0 && textOf(row[key]) !== '' && textOf(row[key]) === textOf(before[key]);
    const isLacking = (at: number) => columns.includes(at) && cellText(textOf(row[at])) === '';
    before = goesOn ? row.map((cell, at) => (isLacking(at) ? before[at] : cell)) : row;
    return before;
  };
}
