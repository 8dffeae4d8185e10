type Growable = Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array;

/** The values in an array of at least `length`, and of twice as many as there were; what is new is 0. */
export function grown<T extends Growable>(values: T, length: number): T {
  const Type = values.constructor as new (length: number) => T;
  const copy = new Type(Math.max(length, values.length * 2));
  copy.set(values);
  return copy;
}

/** Unsigned 32-bit numbers, one appended after the other; grows by doubling. */
export class GrowingU32 {
  length = 0;
  private values = new Uint32Array(1024);

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
