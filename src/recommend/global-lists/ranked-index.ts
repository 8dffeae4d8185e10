import type { Ranked } from '../../memory/ranked-rows.ts';
import { TopK } from '../../memory/top-k.ts';
import { inTurns } from '../../platform/concurrency/event-loop-turns.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Rows } from '../catalogue/row-postings.ts';

/** All items in one order that commits keep up to date. */
export abstract class RankedIndex {
  protected readonly catalogue: Catalogue;

  constructor(catalogue: Catalogue) {
    this.catalogue = catalogue;
  }

  /** The `k` best listable items in all of `categories` that pass `accept`, best first. @param among only these are looked at */
  top(
    k: number,
    categories: readonly string[],
    accept: (row: number) => boolean,
    among: Rows | undefined = this.catalogue.narrowest(categories),
  ): Promise<Ranked> {
    const { catalogue } = this;
    const isShown = (row: number) =>
      catalogue.isListable(row) && catalogue.isInAll(row, categories) && accept(row);
    return inTurns(this.find(k, isShown, among));
  }

  /** The `k` best listable items; a few, for it takes one turn. */
  abstract first(k: number): readonly number[];

  /** The `k` best that are shown, among all items when `members` is undefined. Pauses now and then. */
  protected abstract find(
    k: number,
    isShown: (row: number) => boolean,
    members: Rows | undefined,
  ): Generator<undefined, Ranked>;
}

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
