import type { Ranked } from '../../memory/ranked-rows.ts';
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
