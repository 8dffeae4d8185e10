/**
 * All users' likes in order of time, one user after the other, in one array: a word is an item's row, with two bits that
 * say whether it is the user's first and whether it came later than the one before it.
 */
const ITEM_BITS = 30;
const ITEM_MASK = 2 ** ITEM_BITS - 1;
const LATER = 2 ** ITEM_BITS;
const FIRST = 2 ** (ITEM_BITS + 1);

export function itemOf(word: number): number {
  return word & ITEM_MASK;
}

/** True when it came later than the one before it, and not in the same moment. */
export function isLater(word: number): boolean {
  return (word & LATER) !== 0;
}

/** True for the first of its user. */
export function isFirst(word: number): boolean {
  return (word & FIRST) !== 0;
}

/**
 * Writes one user's likes at `from`; those of one moment in the order of their rows.
 * @param itemRows distinct, ascending
 * @param timesMs when each was liked, beside `itemRows`
 */
export function writeTimeline(
  words: Uint32Array,
  from: number,
  itemRows: ArrayLike<number>,
  timesMs: ArrayLike<number>,
): void {
  const order = Array.from({ length: itemRows.length }, (_, at) => at);
  order.sort((a, b) => timesMs[a]! - timesMs[b]! || a - b);
  order.forEach((at, place) => {
    const later = place > 0 && timesMs[at]! > timesMs[order[place - 1]!]! ? LATER : 0;
    // Written by sums, for the bits reach beyond those of a signed integer.
    words[from + place] = itemRows[at]! + later + (place === 0 ? FIRST : 0);
  });
}
