/** Arrays that grow by doubling. */
type Growable = Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array;

/** The values in an array of at least `length`, and of twice as many as there were; what is new is 0. */
export function grown<T extends Growable>(values: T, length: number): T {
  const Type = values.constructor as new (length: number) => T;
  const copy = new Type(Math.max(length, values.length * 2));
  copy.set(values);
  return copy;
}
