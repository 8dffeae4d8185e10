/**
 * The files of He et al. 2017 (neural collaborative filtering): `*.train.rating` and `*.test.rating` with
 * `user item rating time` a line, tab-separated, and `*.test.negative` with `(user,item)` and the numbers of
 * the items it competes with.
 */
import { lines, refuseLine, rowNumber } from './lines.ts';

/** Pairs of row numbers as columns. */
export interface PairColumns {
  readonly userRows: number[];
  readonly itemRows: number[];
}

/** Reads a `.rating` file; rating and time are passed over, as every record counts as positive. */
export function parseNcfRatings(text: string): PairColumns {
  const pairs: PairColumns = { userRows: [], itemRows: [] };
  for (const { number, line } of lines(text)) {
    const fields = line.trim().split(/\s+/);
    pairs.userRows.push(rowNumber(fields[0], number));
    pairs.itemRows.push(rowNumber(fields[1], number));
  }
  return pairs;
}

/** A held-out pair and the items it competes with. */
export interface NegativeCase {
  readonly userRow: number;
  readonly itemRow: number;
  readonly negativeRows: Uint32Array;
}

/** Reads a `.negative` file; the pair on each line is the one held out. */
export function parseNcfNegatives(text: string): NegativeCase[] {
  const cases: NegativeCase[] = [];
  for (const { number, line } of lines(text)) {
    const [, user, item, rest = ''] = /^\s*\(\s*(\d+)\s*,\s*(\d+)\s*\)(?:\s+(.*))?$/.exec(line) ?? [];
    if (user === undefined) refuseLine(number, `"${line.slice(0, 20)}" begins with no pair such as (0,25)`);
    const negatives = rest.trim() === '' ? [] : rest.trim().split(/\s+/);
    cases.push({
      userRow: rowNumber(user, number),
      itemRow: rowNumber(item, number),
      negativeRows: Uint32Array.from(negatives, (field) => rowNumber(field, number)),
    });
  }
  return cases;
}
