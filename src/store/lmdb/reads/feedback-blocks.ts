import type { FeedbackColumns } from '../../data-store.ts';
import {
  FEEDBACK_WORDS,
  nextBlock,
  pairKey,
  readRow,
  unpackTimeMs,
  unpackType,
} from '../format/record-layout.ts';
import { lastKey, readWords, type Table } from '../tables/engine.ts';

const NO_WORDS = new Uint32Array(0);

/** The block of a row's chain that has the place of a sub-key: the last one that begins no later. */
export function blockWith(table: Table, row: number, subKey: number): Uint32Array {
  const words = readWords(table, pairKey(row, subKey));
  if (words.length > 0 || subKey === 0) return words;
  const key = lastKey(table, pairKey(row, subKey));
  return key === undefined || readRow(key, 0) !== row ? NO_WORDS : readWords(table, key);
}

/**
 * Appends the records of a block of a user's feedback, from an item row on.
 * @returns the sub-key of the next block, 0 for none
 */
export function appendRecords(
  userRow: number,
  words: Uint32Array,
  fromItemRow: number,
  out: FeedbackColumns,
): number {
  const { length } = words;
  if (length === 0) return 0;
  for (let at = 1; at < length; at += FEEDBACK_WORDS) {
    const high = words[at + 2]!;
    const itemRow = words[at]!;
    if (itemRow >= fromItemRow)
      out.push(userRow, itemRow, unpackType(high), unpackTimeMs(words[at + 1]!, high));
  }
  return nextBlock(fromItemRow, words[0]!);
}
