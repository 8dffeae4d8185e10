import type { FilterTree } from '../../domain/filter-tree.ts';
import { bitWords, setBit } from '../../memory/bits.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { RowPostings } from '../catalogue/row-postings.ts';

const DAY_MS = 86_400_000;
/** Rows whose age is looked at between two pauses: some tenths of a millisecond. */
const STEP_ROWS = 65_536;

/**
 * The rows that pass a filter, as bits; hidden rows and such as have no item may be among them. An item without a time passes no
 * condition on its age. Pauses now and then.
 * @param nowMs the time of the question, milliseconds since the epoch
 */
export function* passingRows(
  tree: FilterTree,
  catalogue: Catalogue,
  nowMs: number,
): Generator<undefined, Uint32Array> {
  const words = new Uint32Array(bitWords(catalogue.rowCount));
  yield;
  switch (tree.kind) {
    case 'and':
      words.fill(0xffff_ffff);
      for (const part of tree.parts)
        combine(words, yield* passingRows(part, catalogue, nowMs), (a, b) => a & b);
      return words;
    case 'or':
      for (const part of tree.parts)
        combine(words, yield* passingRows(part, catalogue, nowMs), (a, b) => a | b);
      return words;
    case 'not':
      combine(words, yield* passingRows(tree.part, catalogue, nowMs), (_, b) => ~b);
      return words;
    case 'label':
    case 'category':
      for (const name of tree.names) {
        const rows = tree.kind === 'label' ? catalogue.rowsWithLabel(name) : catalogue.rowsInCategory(name);
        if (rows !== undefined) combine(words, bitsOf(rows, words.length), (a, b) => a | b);
        yield;
      }
      return words;
    case 'ageDays': {
      const { gt, lt } = tree.between;
      for (let row = 0; row < words.length * 32; row++) {
        if (row % STEP_ROWS === STEP_ROWS - 1) yield;
        const days = (nowMs - catalogue.timestampMsAt(row)) / DAY_MS;
        if (days > gt && days < lt) setBit(words, row);
      }
      return words;
    }
  }
}

function bitsOf(rows: RowPostings, length: number): Uint32Array {
  const bits = new Uint32Array(length).fill(0xffff_ffff);
  rows.keepIn(bits);
  return bits;
}

/** Rows that came since `from` was begun are not in it, nor those of `words` beyond. */
function combine(words: Uint32Array, from: Uint32Array, change: (a: number, b: number) => number): void {
  for (let at = 0; at < words.length; at++) words[at] = change(words[at]!, from[at] ?? 0);
}
