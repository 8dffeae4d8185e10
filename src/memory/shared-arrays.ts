/** `count` zeros that all threads share. */
export function sharedU32(count: number): Uint32Array<SharedArrayBuffer> {
  return new Uint32Array(new SharedArrayBuffer(count * 4));
}

/** `count` zeros that all threads share. */
export function sharedF32(count: number): Float32Array<SharedArrayBuffer> {
  return new Float32Array(new SharedArrayBuffer(count * 4));
}

/** `count` zeros that all threads share. */
export function sharedF64(count: number): Float64Array<SharedArrayBuffer> {
  return new Float64Array(new SharedArrayBuffer(count * 8));
}

/** `zeros` with the values in it, of which there are no more than zeros. */
export function filled<T extends Uint32Array | Float32Array | Float64Array>(
  zeros: T,
  values: ArrayLike<number>,
): T {
  zeros.set(values);
  return zeros;
}
