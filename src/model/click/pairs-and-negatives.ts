/** The pairs of users and items that a click-through model learns from, and the negatives drawn beside them. */
import type { PairColumns } from '../../dataset/training-data.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import { FNV_BASIS, fnvWord } from '../../domain/hash.ts';
import type { Random } from '../../domain/random.ts';

/** Steps between two yields. */
const SLICE = 1 << 18;

/** The items of each user, ascending: 4 bytes a pair and a user. */
export interface UserItems {
  readonly starts: Uint32Array;
  readonly items: Uint32Array;
}

/**
 * Groups pairs by user.
 * @throws FurzeError BAD_REQUEST for a row beyond the counts
 */
export function* groupByUser(
  userCount: number,
  itemCount: number,
  columns: readonly PairColumns[],
): Generator<void, UserItems> {
  const starts = new Uint32Array(userCount + 1);
  let count = 0;
  for (const { userRows, itemRows } of columns) {
    for (let at = 0; at < userRows.length; at++) {
      if (!(userRows[at]! < userCount && itemRows[at]! < itemCount)) {
        throw new FurzeError(
          'BAD_REQUEST',
          `the pair (${userRows[at]}, ${itemRows[at]}) lies outside ${userCount} x ${itemCount}`,
        );
      }
      starts[userRows[at]!]!++;
      if (++count % SLICE === 0) yield;
    }
  }
  for (let row = 0, sum = 0; row <= userCount; row++) starts[row] = sum += starts[row]!;
  // Each start stands at its row's end now, and moves down to its place as the row fills.
  const items = new Uint32Array(count);
  for (const { userRows, itemRows } of columns) {
    for (let at = 0; at < userRows.length; at++) {
      items[--starts[userRows[at]!]!] = itemRows[at]!;
      if (--count % SLICE === 0) yield;
    }
  }
  for (let row = 0, work = 0; row < userCount; row++) {
    const length = starts[row + 1]! - starts[row]!;
    if (length > 1) items.subarray(starts[row], starts[row + 1]).sort();
    work += 1 + length;
    if (work < SLICE) continue;
    work = 0;
    yield;
  }
  return { starts, items };
}

/** True when the user has the item. */
export function hasPair({ starts, items }: UserItems, userRow: number, itemRow: number): boolean {
  let low = starts[userRow]!;
  let high = starts[userRow + 1]!;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (items[middle]! < itemRow) low = middle + 1;
    else high = middle;
  }
  return low < starts[userRow + 1]! && items[low] === itemRow;
}

/** Pairs as columns of our own. */
export interface Pairs extends PairColumns {
  readonly userRows: Uint32Array;
  readonly itemRows: Uint32Array;
}

/** Pairs with a target that a training visits: 9 bytes each. */
export interface Examples extends Pairs {
  readonly targets: Uint8Array;
}

/**
 * Deals a column of pairs out at random: `counts[0]` of them to the first pile, `counts[1]` to the second, and the rest
 * is left (selection sampling, Knuth, The Art of Computer Programming 2, algorithm 3.4.2 S).
 * @param counts their sum is at most the number of pairs
 */
export function* dealPairs(
  { userRows, itemRows }: PairColumns,
  counts: readonly [number, number],
  random: Random,
): Generator<void, [Pairs, Pairs]> {
  const piles = counts.map((count) => ({
    userRows: new Uint32Array(count),
    itemRows: new Uint32Array(count),
  })) as [Pairs, Pairs];
  const filled: [number, number] = [0, 0];
  for (let at = 0; at < userRows.length; at++) {
    const place = random.float() * (userRows.length - at);
    const wanted = counts[0] - filled[0];
    const pile = place < wanted ? 0 : place < wanted + counts[1] - filled[1] ? 1 : -1;
    if (pile >= 0) {
      const next = filled[pile as 0 | 1]++;
      piles[pile as 0 | 1].userRows[next] = userRows[at]!;
      piles[pile as 0 | 1].itemRows[next] = itemRows[at]!;
    }
    if (at % SLICE === SLICE - 1) yield;
  }
  return piles;
}

/** Positives and negatives in one. */
export function joinExamples(positives: readonly PairColumns[], negatives: readonly PairColumns[]): Examples {
  const all = [...positives, ...negatives];
  const count = all.reduce((sum, { userRows }) => sum + userRows.length, 0);
  const examples = {
    userRows: new Uint32Array(count),
    itemRows: new Uint32Array(count),
    targets: new Uint8Array(count),
  };
  let next = 0;
  for (const [side, { userRows, itemRows }] of all.entries()) {
    examples.userRows.set(userRows, next);
    examples.itemRows.set(itemRows, next);
    examples.targets.fill(side < positives.length ? 1 : 0, next, next + userRows.length);
    next += userRows.length;
  }
  return examples;
}

/** A hash of the columns (FNV-1a over their rows): it tells data sets apart, it does not guard against forgery. */
export function* pairsFingerprint(columns: readonly PairColumns[]): Generator<void, number> {
  let hash = FNV_BASIS;
  const mix = (value: number) => {
    hash = fnvWord(hash, value);
  };
  for (const { userRows, itemRows } of columns) {
    mix(userRows.length);
    for (let at = 0; at < userRows.length; at++) {
      mix(userRows[at]!);
      mix(itemRows[at]!);
      if (at % SLICE === SLICE - 1) yield;
    }
  }
  return hash >>> 0;
}

/** Puts the examples in a new order (Fisher and Yates). */
export function* shuffleExamples(
  { userRows, itemRows, targets }: Examples,
  random: Random,
): Generator<void, void> {
  for (let at = targets.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    swap(userRows, at, other);
    swap(itemRows, at, other);
    swap(targets, at, other);
    if (at % SLICE === 0) yield;
  }
}

function swap(values: Uint32Array | Uint8Array, a: number, b: number): void {
  const held = values[a]!;
  values[a] = values[b]!;
  values[b] = held;
}
