import { grown } from './grow.ts';

/** Unsigned 32-bit numbers, one appended after the other; grows by doubling. */
export class GrowingU32 {
  length = 0;
  private values: Uint32Array;

  constructor(capacity = 1024) {
    this.values = new Uint32Array(capacity);
  }

  push(value: number): void {
    if (this.length === this.values.length) this.values = grown(this.values, this.length + 1);
    this.values[this.length++] = value;
  }

  at(place: number): number {
    return this.values[place]!;
  }

  /** Adds to a number that is there. */
  add(place: number, delta: number): void {
    this.values[place]! += delta;
  }

  /** A view of all of them, good until the next `push`. */
  view(): Uint32Array {
    return this.values.subarray(0, this.length);
  }
}
