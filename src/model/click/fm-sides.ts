/**
 * The two halves of a factorization machine's score. With s the sum of x v over a side's features and c what that side
 * scores by itself (weights, and the products of its features with each other),
 * score(user, item) = bias + c_u + c_i + <s_u, s_i>.
 */
import { paddedFactors } from '../../kernel/scratch-sizes.ts';
import { labelValue } from './features.ts';
import type { LabelTable } from './label-table.ts';

/** One half of a score; a user's holds the bias too. */
export interface FmSide {
  readonly constant: number;
  /** As many numbers as the model has factors. */
  readonly vector: Float32Array;
}

/** Numbers of a row of parameters or of a side: a vector, then what stands beside it, padded for the kernels. */
export function rowWidth(factors: number): number {
  return paddedFactors(factors + 1);
}

/** Makes halves out of one side's parameters. */
export class FmSides {
  readonly #factors: number;
  readonly #width: number;
  readonly #names: LabelTable;
  readonly #oneHot: Float32Array;
  readonly #labels: Float32Array;
  /** Where a side is added up; see `#add`. */
  readonly #sum: Float64Array;

  /** @param oneHot rows of `rowWidth(factors)` numbers, one a user or item; `labels` likewise, in the order of `names` */
  constructor(factors: number, names: LabelTable, oneHot: Float32Array, labels: Float32Array) {
    this.#factors = factors;
    this.#width = rowWidth(factors);
    this.#names = names;
    this.#oneHot = oneHot;
    this.#labels = labels;
    this.#sum = new Float64Array(factors + 2);
  }

  /** @param row the user's or item's; -1 when it has no feature of its own */
  side(row: number, labels: readonly string[], bias: number): FmSide {
    const factors = this.#factors;
    const numbers = new Float32Array(factors + 1);
    const constant = this.write(row, labels, bias, numbers, 0);
    return { constant, vector: numbers.subarray(0, factors) };
  }

  /**
   * Writes a side as it lies in a row of `rowWidth(factors)` numbers: the vector, the constant behind it.
   * @param at where in `out`; the row's own parameters may stand there
   * @returns the constant
   */
  write(row: number, labels: readonly string[], bias: number, out: Float32Array, at: number): number {
    const width = this.#width;
    const factors = this.#factors;
    const sum = this.#sum.fill(0);
    const found = this.#numbersOf(labels);
    if (row >= 0) this.#add(this.#oneHot, row * width, 1, sum);
    if (found.length > 0) {
      const value = labelValue(found.length);
      for (const number of found) this.#add(this.#labels, number * width, value, sum);
    }
    let squares = 0;
    for (let k = 0; k < factors; k++) {
      out[at + k] = sum[k]!;
      squares += sum[k]! * sum[k]!;
    }
    const constant = bias + sum[factors]! + 0.5 * (squares - sum[factors + 1]!);
    out[at + factors] = constant;
    return constant;
  }

  /** The labels that the model knows, each once. */
  #numbersOf(labels: readonly string[]): readonly number[] {
    const found: number[] = [];
    for (const label of labels) {
      const number = this.#names.numberOf(label);
      if (number >= 0 && !found.includes(number)) found.push(number);
    }
    return found;
  }

  /** Adds a feature's vector, its weight, and the square of its vector, which come to stand in this order. */
  #add(parameters: Float32Array, at: number, value: number, sum: Float64Array): void {
    const factors = this.#factors;
    for (let k = 0; k < factors; k++) {
      const product = value * parameters[at + k]!;
      sum[k]! += product;
      sum[factors + 1]! += product * product;
    }
    sum[factors]! += value * parameters[at + factors]!;
  }
}

/** Score of two halves; an item without a half counts as the average one. */
export function scoreOfSides(user: FmSide, item: FmSide | undefined): number {
  if (item === undefined) return user.constant;
  let score = user.constant + item.constant;
  for (let k = 0; k < item.vector.length; k++) score += user.vector[k]! * item.vector[k]!;
  return score;
}
