import { grown } from './growing-u32.ts';

/** The most entries that have room from the beginning. */
const CAPACITY = 128;
/** Entries that are sorted between two pauses: some tenths of a millisecond. */
const STEP_ENTRIES = 512;

/** A total order of rows with equal scores: below 0 when the first stands before the second. */
export type RowOrder = (row: number, otherRow: number) => number;

const LOWER_FIRST: RowOrder = (row, otherRow) => row - otherRow;

/**
 * Keeps the best `k` of a stream of (row, score) in a binary heap whose root is the worst kept.
 * Order is total (higher score first, then lower row unless told), so a shorter list is a prefix of a longer one.
 */
export class TopK {
  readonly #k: number;
  readonly #order: RowOrder;
  #rows: Uint32Array;
  #scores: Float64Array;
  #size = 0;

  /**
   * @param k 0 or more; Infinity to sort all
   * @param order of rows with equal scores
   */
  constructor(k: number, order: RowOrder = LOWER_FIRST) {
    this.#k = k;
    this.#order = order;
    const capacity = Math.min(Math.ceil(k), CAPACITY);
    this.#rows = new Uint32Array(capacity);
    this.#scores = new Float64Array(capacity);
  }

  clear(): void {
    this.#size = 0;
  }

  /** True when `push` would keep it. */
  takes(row: number, score: number): boolean {
    return (
      this.#size < this.#k || (this.#k > 0 && this.#isBetter(row, score, this.#rows[0]!, this.#scores[0]!))
    );
  }

  /** @returns whether it was kept */
  push(row: number, score: number): boolean {
    if (this.#size < this.#k) {
      if (this.#size === this.#rows.length) this.#grow();
      this.#siftUp(this.#size++, row, score);
      return true;
    }
    if (!this.takes(row, score)) return false;
    this.#siftDown(row, score);
    return true;
  }

  get scoreMin(): number {
    if (this.#size < this.#k) return Number.NEGATIVE_INFINITY;
    return this.#size === 0 ? Number.POSITIVE_INFINITY : this.#scores[0]!;
  }

  /** The rows kept, in no order. */
  rows(): Uint32Array {
    return this.#rows.slice(0, this.#size);
  }

  /** The kept entries, best first. */
  sorted(): { rows: number[]; scores: number[] } {
    const best = emptyList(this.#size);
    while (this.#size > 0) this.#takeWorst(best);
    this.#putBack(best);
    return best;
  }

  /** The same, with a pause now and then; until it is done there is nothing else to be asked or pushed. */
  *sortedInSteps(): Generator<undefined, { rows: number[]; scores: number[] }> {
    const best = emptyList(this.#size);
    while (this.#size > 0) {
      this.#takeWorst(best);
      if (this.#size % STEP_ENTRIES === STEP_ENTRIES - 1) yield;
    }
    this.#putBack(best);
    return best;
  }

  /** The root is the worst: it goes behind all others that are left, which are a heap again. */
  #takeWorst({ rows, scores }: { rows: number[]; scores: number[] }): void {
    const last = --this.#size;
    rows[last] = this.#rows[0]!;
    scores[last] = this.#scores[0]!;
    if (last > 0) this.#siftDown(this.#rows[last]!, this.#scores[last]!);
  }

  /** Worst first is a heap as well. */
  #putBack({ rows, scores }: { rows: number[]; scores: number[] }): void {
    const { length } = rows;
    for (let at = 0; at < length; at++) this.#put(length - 1 - at, rows[at]!, scores[at]!);
    this.#size = length;
  }

  #grow(): void {
    this.#rows = grown(this.#rows, this.#size + 1);
    this.#scores = grown(this.#scores, this.#size + 1);
  }

  #siftUp(from: number, row: number, score: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#isBetter(row, score, this.#rows[parent]!, this.#scores[parent]!)) break;
      this.#put(at, this.#rows[parent]!, this.#scores[parent]!);
      at = parent;
    }
    this.#put(at, row, score);
  }

  #siftDown(row: number, score: number): void {
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#size) break;
      const next = child + 1;
      if (next < this.#size && this.#isWorse(next, child)) child = next;
      if (this.#isBetter(this.#rows[child]!, this.#scores[child]!, row, score)) break;
      this.#put(at, this.#rows[child]!, this.#scores[child]!);
      at = child;
    }
    this.#put(at, row, score);
  }

  #isWorse(a: number, b: number): boolean {
    return this.#isBetter(this.#rows[b]!, this.#scores[b]!, this.#rows[a]!, this.#scores[a]!);
  }

  #isBetter(row: number, score: number, otherRow: number, otherScore: number): boolean {
    return score > otherScore || (score === otherScore && this.#order(row, otherRow) < 0);
  }

  #put(at: number, row: number, score: number): void {
    this.#rows[at] = row;
    this.#scores[at] = score;
  }
}

function emptyList(length: number): { rows: number[]; scores: number[] } {
  return { rows: new Array<number>(length), scores: new Array<number>(length) };
}

/** True when an entry stands before another one: by the higher score, of equal ones by the lower row. */
export function isBetter(row: number, score: number, otherRow: number, otherScore: number): boolean {
  return score > otherScore || (score === otherScore && row < otherRow);
}
