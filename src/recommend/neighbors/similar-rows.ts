import type { Ranked } from '../../memory/ranked-rows.ts';
import { type RowOrder, TopK } from '../../memory/top-k.ts';
import { elementWeight, SHRINK, similarity } from '../../model/neighbors/similarity.ts';
import { atOnce, inTurns } from '../../platform/concurrency/event-loop-turns.ts';
import { CommonSums } from './common-sums.ts';

/** By how much rounding to 32 bits may lift a score above its bound. */
const ROUNDING = 1 + 2 ** -23;

/** Rows looked at between two pauses: a fraction of a millisecond. */
const PAUSE_STEPS = 512;

/** Rows and the elements they have: items and their labels, items and their users, users and their items. */
export interface Incidence<Element> {
  /** N: how many rows there are. */
  readonly rowCount: number;
  elementsOf(row: number): Iterable<Element>;
  /** The rows that have the element, at least one, or as many of them as are to be looked at. */
  rowsOf(element: Element): { readonly size: number } & Iterable<number>;
  /** N_x: how many have it, where that is told faster or not all of them are to be looked at. */
  countOf?(element: Element): number;
  /** The order of rows with equal scores, as those of few and common elements have; the lower row first unless told. */
  readonly order?: RowOrder;
}

/**
 * The rows most like `row` by `similarity`, its scores rounded to 32 bits, as those that a fit computes ahead are: what is
 * alike to the last label is so in any order of the labels.
 * Cost: the sum of N_x over the row's elements, plus the elements of each candidate that what they have in common alone
 * does not rule out.
 * @param accept which candidates may stand in the list; the row itself never does
 * @param onPause called now and then; what it throws ends the search
 */
export function similarRows<Element>(
  row: number,
  k: number,
  incidence: Incidence<Element>,
  accept: (row: number) => boolean,
  onPause: () => void = () => {},
): Ranked {
  return atOnce(compare(row, k, incidence, accept), onPause);
}

/**
 * The same, less than a millisecond a turn of the event loop, for a thread that has others to serve.
 * @throws the signal's reason once it is aborted
 */
export function similarRowsInTurns<Element>(
  row: number,
  k: number,
  incidence: Incidence<Element>,
  accept: (row: number) => boolean,
  signal?: AbortSignal,
): Promise<Ranked> {
  return inTurns(compare(row, k, incidence, accept), signal);
}

/** Pauses now and then. */
function* compare<Element>(
  row: number,
  k: number,
  incidence: Incidence<Element>,
  accept: (row: number) => boolean,
): Generator<undefined, Ranked> {
  let own = 0;
  let steps = 0;
  const shared: [rows: Iterable<number>, size: number, weight: number][] = [];
  let visits = 0;
  for (const element of incidence.elementsOf(row)) {
    const rows = incidence.rowsOf(element);
    const weight = elementWeight(incidence.rowCount, incidence.countOf?.(element) ?? rows.size);
    own += weight;
    visits += rows.size;
    shared.push([rows, rows.size, weight]);
  }
  const common = CommonSums.taken(Math.min(visits, incidence.rowCount));
  for (const [rows, size, weight] of shared) {
    let left = size;
    for (const other of rows) {
      // Rows that came while others had their turn are not counted on.
      if (left-- === 0) break;
      if (++steps % PAUSE_STEPS === 0) yield;
      common.add(other, weight);
    }
  }
  const countOf = (element: Element) => incidence.countOf?.(element) ?? incidence.rowsOf(element).size;
  const best = new TopK(k, incidence.order);
  // Those with several elements in common come first: they set the bar for the many that share a single one.
  for (const shareSeveral of [true, false]) {
    for (let at = 0; at < common.size; at++) {
      if (++steps % PAUSE_STEPS === 0) yield;
      const count = common.countAt(at);
      if (count > 1 !== shareSeveral) continue;
      const weight = common.weightAt(at);
      const scoreMax = (Math.sqrt(weight / own) * count * ROUNDING) / (count + SHRINK);
      if (scoreMax < best.scoreMin) continue;
      const other = common.rowAt(at);
      if (other === row || !accept(other)) continue;
      let theirs = 0;
      for (const element of incidence.elementsOf(other)) {
        if (++steps % PAUSE_STEPS === 0) yield;
        theirs += elementWeight(incidence.rowCount, countOf(element));
      }
      // The row may have lost its elements while others had their turn.
      if (theirs === 0) continue;
      best.push(other, Math.fround(similarity(weight, count, own, theirs)));
    }
  }
  yield* common.giveBack();
  return yield* best.sortedInSteps();
}
