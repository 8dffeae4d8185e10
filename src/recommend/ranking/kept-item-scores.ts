import { KINDS } from '../models/feature-names.ts';

/** No item and kind. */
const NONE = 0xffffffff;

/**
 * Keeps what items alone add to a score, by kind of user, so that it is not worked out for each list anew. Two that fall on
 * one place take turns: memory stays the same, 12 bytes a place, however many items there are.
 */
export class KeptItemScores {
  private readonly keys: Uint32Array;
  private readonly scores: Float64Array;

  /** @param places a power of two */
  constructor(places: number) {
    this.keys = new Uint32Array(places).fill(NONE);
    this.scores = new Float64Array(places);
  }

  /** Forgets everything. */
  clear(): void {
    this.keys.fill(NONE);
  }

  /** Adds the score of each item to the sum at its place. @param scoreOf the same whenever it is asked until `clear` */
  addTo(
    sums: Float64Array,
    itemRows: ArrayLike<number>,
    kind: number,
    scoreOf: (itemRow: number) => number,
  ): void {
    const { keys, scores } = this;
    const mask = keys.length - 1;
    for (let at = 0; at < sums.length; at++) {
      const row = itemRows[at]!;
      const key = (row * KINDS + kind) >>> 0;
      const mixed = Math.imul(key, 0x9e3779b1);
      const place = (mixed ^ (mixed >>> 15)) & mask;
      if (keys[place] !== key) {
        keys[place] = key;
        scores[place] = scoreOf(row);
      }
      sums[at]! += scores[place]!;
    }
  }
}
