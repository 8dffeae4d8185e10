import { createRandom } from '../domain/random.ts';
import type { Estimate } from '../model/evaluation/confidence-interval.ts';

const DRAWS = 500;
const NORMAL_95 = 1.96;

/**
 * Means of many series over the same questions with 95 % intervals by the block bootstrap: users are drawn as wholes, then
 * days are, and the wider interval counts. Questions of one user, or of one day, are no evidence independent of each other.
 */
export class BlockIntervals {
  private readonly draws: readonly (readonly Uint32Array[])[];
  private readonly blocks: readonly Uint32Array[];

  /** @param blockings for each way to cut the questions into blocks, the block of each question, from 0 */
  constructor(blockings: readonly Uint32Array[], seed: number) {
    const random = createRandom(seed);
    this.blocks = blockings;
    this.draws = blockings.map((blockOf) => {
      const count = blockCount(blockOf);
      return Array.from({ length: DRAWS }, () => {
        const times = new Uint32Array(count);
        for (let at = 0; at < count; at++) times[random.below(count)]!++;
        return times;
      });
    });
  }

  /** @param values of each question */
  of(values: readonly number[]): Estimate {
    const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
    const deviations = this.blocks.map((blockOf, at) => this.deviation(values, blockOf, this.draws[at]!));
    return { mean, halfWidth: NORMAL_95 * Math.max(0, ...deviations) };
  }

  private deviation(values: readonly number[], blockOf: Uint32Array, draws: readonly Uint32Array[]): number {
    const count = blockCount(blockOf);
    if (count < 2) return 0;
    const sums = new Float64Array(count);
    const sizes = new Uint32Array(count);
    values.forEach((value, at) => {
      sums[blockOf[at]!]! += value;
      sizes[blockOf[at]!]!++;
    });
    let [n, mean, squares] = [0, 0, 0];
    for (const times of draws) {
      let [sum, size] = [0, 0];
      for (let block = 0; block < count; block++) {
        sum += times[block]! * sums[block]!;
        size += times[block]! * sizes[block]!;
      }
      const delta = sum / size - mean;
      mean += delta / ++n;
      squares += delta * (sum / size - mean);
    }
    return Math.sqrt(squares / (n - 1));
  }
}

/** Blocks by any key, numbered as they are met. */
export function numberBlocks(keys: readonly number[]): Uint32Array {
  const numbers = new Map<number, number>();
  return Uint32Array.from(keys, (key) => {
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  });
}

function blockCount(blockOf: Uint32Array): number {
  return blockOf.reduce((most, block) => Math.max(most, block + 1), 0);
}
