import { grown } from '../../memory/growing-u32.ts';

/** Slots for each row, so that most rows are found where they are looked for first. */
const SLOTS_A_ROW = 1.5;

/** Rows from which on a table is used again: to make a large one for each search has the collector at work all the time. */
const LARGE_ROWS = 65_536;
/** Numbers that are cleared between two pauses: some hundredths of a millisecond. */
const CLEARED = 65_536;
/** A cleared table, and for how long it is kept, milliseconds. */
let cleared: CommonSums | undefined;
let forgetting: NodeJS.Timeout | undefined;
const KEPT_MS = 60_000;

/**
 * The elements that rows have in common with one row: the sum of weights and their number, in a table as large as it is expected to
 * become, so that hardly a step of a long search has to move what is there already. 24 to 48 bytes a row.
 */
export class CommonSums {
  /** The rows, in the order in which they came. */
  private order: Uint32Array;
  private weights: Float64Array;
  private counts: Uint32Array;
  /** 1 + place in the order by slot; 0 for a free one. */
  private slots = new Uint32Array(0);
  private shift = 0;
  private length = 0;

  /** @param expected rows that come at most, as far as is known */
  constructor(expected: number) {
    const capacity = Math.max(1, expected);
    this.order = new Uint32Array(capacity);
    this.weights = new Float64Array(capacity);
    this.counts = new Uint32Array(capacity);
    this.fileAll();
  }

  /** An empty table for as many rows as are expected at most, a new one or one that was given back. */
  static taken(expected: number): CommonSums {
    const known = expected < LARGE_ROWS ? undefined : cleared;
    if (known === undefined || known.order.length < expected) return new CommonSums(expected);
    cleared = undefined;
    return known;
  }

  /** Clears the table for another search. Pauses now and then. */
  *giveBack(): Generator<undefined, void> {
    if (this.order.length < LARGE_ROWS) return;
    const { slots, weights, counts, length } = this;
    for (const used of [slots, weights.subarray(0, length), counts.subarray(0, length)])
      for (let from = 0; from < used.length; from += CLEARED) {
        used.fill(0, from, from + CLEARED);
        yield;
      }
    this.length = 0;
    cleared = this;
    clearTimeout(forgetting);
    forgetting = setTimeout(() => {
      cleared = undefined;
    }, KEPT_MS).unref();
  }

  /** Rows that have come. */
  get size(): number {
    return this.length;
  }

  add(row: number, weight: number): void {
    let slot = this.slotOf(row);
    if (this.slots[slot] === 0) {
      if (this.length === this.order.length) {
        this.grow();
        slot = this.slotOf(row);
      }
      this.order[this.length] = row;
      this.slots[slot] = ++this.length;
    }
    const at = this.slots[slot]! - 1;
    this.weights[at] = this.weights[at]! + weight;
    this.counts[at] = this.counts[at]! + 1;
  }

  rowAt(at: number): number {
    return this.order[at]!;
  }

  weightAt(at: number): number {
    return this.weights[at]!;
  }

  countAt(at: number): number {
    return this.counts[at]!;
  }

  /** Where the row is filed, or would be. */
  private slotOf(row: number): number {
    const { slots, order } = this;
    const last = slots.length - 1;
    // Multiplicative hashing (Knuth, The Art of Computer Programming, volume 3, section 6.4).
    let slot = Math.imul(row, 0x9e3779b1) >>> this.shift;
    while (slots[slot] !== 0 && order[slots[slot]! - 1] !== row) slot = (slot + 1) & last;
    return slot;
  }

  private fileAll(): void {
    const bits = Math.ceil(Math.log2(this.order.length * SLOTS_A_ROW + 2));
    this.shift = 32 - bits;
    this.slots = new Uint32Array(2 ** bits);
    for (let at = 0; at < this.length; at++) this.slots[this.slotOf(this.order[at]!)] = at + 1;
  }

  private grow(): void {
    const length = this.order.length + 1;
    this.order = grown(this.order, length);
    this.weights = grown(this.weights, length);
    this.counts = grown(this.counts, length);
    this.fileAll();
  }
}
