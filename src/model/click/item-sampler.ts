import type { PairColumns } from '../../dataset/training-data.ts';
import type { Random } from '../../domain/random.ts';
import { hasPair, type UserItems } from './pairs-and-negatives.ts';

/** Steps between two yields. */
const SLICE = 1 << 18;
/** An item that the user has is drawn again, this often at most. */
const TRIES = 20;

/** Draws items by weight in constant time (Walker 1977, in Vose's form 1991): 8 bytes an item. */
export class ItemSampler {
  readonly #chances: Float32Array;
  readonly #others: Uint32Array;
  readonly #random: Random;

  /** @param weights 0 or more, at least one of them above 0 */
  constructor(weights: Float64Array, random: Random) {
    const count = weights.length;
    this.#random = random;
    this.#chances = new Float32Array(count).fill(1);
    this.#others = Uint32Array.from({ length: count }, (_, row) => row);
    const mean = weights.reduce((sum, weight) => sum + weight, 0) / count;
    const left = weights.map((weight) => weight / mean);
    const low: number[] = [];
    const high: number[] = [];
    left.forEach((weight, row) => {
      (weight < 1 ? low : high).push(row);
    });
    while (low.length > 0 && high.length > 0) {
      const row = low.pop()!;
      const other = high.at(-1)!;
      this.#chances[row] = left[row]!;
      this.#others[row] = other;
      left[other] = left[other]! - (1 - left[row]!);
      if (left[other]! < 1) low.push(high.pop()!);
    }
    // What rounding leaves over: an item without weight must never be drawn.
    const heaviest = weights.indexOf(weights.reduce((most, weight) => Math.max(most, weight), 0));
    for (const row of low) {
      if (weights[row] !== 0) continue;
      this.#chances[row] = 0;
      this.#others[row] = heaviest;
    }
  }

  draw(): number {
    const row = this.#random.below(this.#chances.length);
    return this.#random.float() < this.#chances[row]! ? row : this.#others[row]!;
  }

  /** An item that stands in none of the user's lists; -1 when none turned up, because the user has nearly all. */
  drawUnknown(userRow: number, known: UserItems, others?: UserItems): number {
    for (let tries = 0; tries < TRIES; tries++) {
      const row = this.draw();
      if (hasPair(known, userRow, row)) continue;
      if (others === undefined || !hasPair(others, userRow, row)) return row;
    }
    return -1;
  }
}

/**
 * Weights of the items for sampling: the number of their records to the power `exponent` (0: all alike). An item that
 * has no records weighs nothing, so that the model learns nothing of it but by its labels.
 */
export function* itemWeights(
  itemCount: number,
  columns: readonly PairColumns[],
  exponent: number,
): Generator<void, Float64Array> {
  const weights = new Float64Array(itemCount);
  for (const { itemRows } of columns) {
    for (let at = 0; at < itemRows.length; at++) {
      weights[itemRows[at]!]!++;
      if (at % SLICE === SLICE - 1) yield;
    }
  }
  return weights.map((count) => (count === 0 ? 0 : count ** exponent));
}
