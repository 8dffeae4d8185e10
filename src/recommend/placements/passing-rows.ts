import type { FilterTree } from '../../domain/filter-tree.ts';
import { bitWords, setBit } from '../../memory/bits.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';

const DAY_MS = 86_400_000;
/** Rows whose age is looked at between two pauses: some tenths of a millisecond. */
const STEP_ROWS = 16_384;

/** The earliest time at which an item comes to an age that a filter asks for, milliseconds. */
export interface Crossing {
  nextMs: number;
}

/**
 * The rows that pass a filter, as bits; hidden rows and such as have no item may be among them. An item without a time passes no
 * condition on its age. Pauses now and then.
 * @param nowMs the time of the question, milliseconds since the epoch @param crossing brought forward to when that changes
 */
export function* passingRows(
  tree: FilterTree,
  catalogue: Catalogue,
  nowMs: number,
  crossing: Crossing,
): Generator<undefined, Uint32Array> {
  const words = new Uint32Array(bitWords(catalogue.rowCount));
  yield;
  yield* addPassing(words, tree, catalogue, nowMs, crossing);
  return words;
}

/** Adds the rows that pass to those of `words`. Rows that came since these were begun are not among them. */
function* addPassing(
  words: Uint32Array,
  tree: FilterTree,
  catalogue: Catalogue,
  nowMs: number,
  crossing: Crossing,
): Generator<undefined, void> {
  switch (tree.kind) {
    case 'or':
      for (const part of tree.parts) yield* addPassing(words, part, catalogue, nowMs, crossing);
      return;
    case 'and': {
      const all = new Uint32Array(words.length).fill(0xffff_ffff);
      for (const part of tree.parts) {
        const passing = yield* passingRows(part, catalogue, nowMs, crossing);
        for (let at = 0; at < all.length; at++) all[at]! &= passing[at]!;
        yield;
      }
      for (let at = 0; at < words.length; at++) words[at]! |= all[at]!;
      return;
    }
    case 'not': {
      const passing = yield* passingRows(tree.part, catalogue, nowMs, crossing);
      for (let at = 0; at < words.length; at++) words[at]! |= ~passing[at]!;
      return;
    }
    case 'label':
    case 'category':
      for (const name of tree.names) {
        const rows = tree.kind === 'label' ? catalogue.rowsWithLabel(name) : catalogue.rowsInCategory(name);
        if (rows !== undefined) yield* rows.addTo(words);
      }
      return;
    case 'ageDays':
      for (let row = 0; row < words.length * 32; row++) {
        if (row % STEP_ROWS === STEP_ROWS - 1) yield;
        if (isOfAge(tree.between, catalogue.timestampMsAt(row), nowMs, crossing)) setBit(words, row);
      }
  }
}

/** Tells whether one row passes. @param crossing as for `passingRows` */
export function passes(
  tree: FilterTree,
  catalogue: Catalogue,
  row: number,
  nowMs: number,
  crossing: Crossing,
): boolean {
  const isTrue = (part: FilterTree) => passes(part, catalogue, row, nowMs, crossing);
  switch (tree.kind) {
    // Every part is asked, for when it changes.
    case 'and':
      return tree.parts.filter(isTrue).length === tree.parts.length;
    case 'or':
      return tree.parts.filter(isTrue).length > 0;
    case 'not':
      return !isTrue(tree.part);
    case 'label':
      return tree.names.some((name) => catalogue.rowsWithLabel(name)?.has(row) === true);
    case 'category':
      return tree.names.some((name) => catalogue.rowsInCategory(name)?.has(row) === true);
    case 'ageDays':
      return isOfAge(tree.between, catalogue.timestampMsAt(row), nowMs, crossing);
  }
}

function isOfAge(
  { gt, lt }: { readonly gt: number; readonly lt: number },
  timestampMs: number,
  nowMs: number,
  crossing: Crossing,
): boolean {
  const days = (nowMs - timestampMs) / DAY_MS;
  bringForward(crossing, timestampMs + gt * DAY_MS, nowMs);
  bringForward(crossing, timestampMs + lt * DAY_MS, nowMs);
  return days > gt && days < lt;
}

function bringForward(crossing: Crossing, crossesMs: number, nowMs: number): void {
  if (crossesMs >= nowMs && crossesMs < crossing.nextMs) crossing.nextMs = crossesMs;
}
