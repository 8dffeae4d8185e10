import type { Ranked } from '../../memory/ranked-rows.ts';
import { TopK } from '../../memory/top-k.ts';

/** Rows looked at between two pauses. */
const PAUSE_ROWS = 512;

/**
 * The `k` of the rows with the highest numbers that pass, best first. Pauses now and then.
 * @param numberOf NaN for a row that has none
 */
export function* topKInTurns(
  rows: Iterable<number>,
  k: number,
  numberOf: (row: number) => number,
  isShown: (row: number) => boolean,
): Generator<undefined, Ranked> {
  const best = new TopK(k);
  let looked = 0;
  for (const row of rows) {
    if (++looked % PAUSE_ROWS === 0) yield;
    const number = numberOf(row);
    if (!Number.isNaN(number) && best.takes(row, number) && isShown(row)) best.push(row, number);
  }
  return yield* best.sortedInSteps();
}
