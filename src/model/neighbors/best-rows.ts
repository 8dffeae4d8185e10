/** Keeps the best `k` of a stream of (row, score): score descending, of equal ones the lower row first. */
export class BestRows {
  /** A binary heap with the worst kept at its root. */
  readonly #rows: Uint32Array;
  readonly #scores: Float64Array;
  #size = 0;

  /** @param k 1 or more */
  constructor(k: number) {
    this.#rows = new Uint32Array(k);
    this.#scores = new Float64Array(k);
  }

  clear(): void {
    this.#size = 0;
  }

  /** @returns whether it was kept */
  offer(row: number, score: number): boolean {
    if (this.#size < this.#rows.length) {
      this.#siftUp(this.#size++, row, score);
      return true;
    }
    if (!isBetter(row, score, this.#rows[0]!, this.#scores[0]!)) return false;
    this.#siftDown(row, score);
    return true;
  }

  /** The rows kept, in no order. */
  rows(): Uint32Array {
    return this.#rows.slice(0, this.#size);
  }

  #siftUp(from: number, row: number, score: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (isBetter(row, score, this.#rows[parent]!, this.#scores[parent]!)) break;
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
      if (isBetter(this.#rows[child]!, this.#scores[child]!, row, score)) break;
      this.#put(at, this.#rows[child]!, this.#scores[child]!);
      at = child;
    }
    this.#put(at, row, score);
  }

  #isWorse(a: number, b: number): boolean {
    return isBetter(this.#rows[b]!, this.#scores[b]!, this.#rows[a]!, this.#scores[a]!);
  }

  #put(at: number, row: number, score: number): void {
    this.#rows[at] = row;
    this.#scores[at] = score;
  }
}

function isBetter(row: number, score: number, otherRow: number, otherScore: number): boolean {
  return score > otherScore || (score === otherScore && row < otherRow);
}
