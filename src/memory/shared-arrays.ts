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

/** Numbers copied between two pauses: some tenths of a millisecond, most of it for memory that nobody has touched yet. */
const STEP_NUMBERS = 65_536;

/** `zeros` as they were, but in memory that has been touched, so that to fill it takes less than half as long. Pauses now and then. */
export function* touchedInSteps<T extends Float32Array>(zeros: T): Generator<undefined, T> {
  for (let from = 0; from < zeros.length; from += STEP_NUMBERS) {
    if (from > 0) yield;
    zeros.fill(0, from, from + STEP_NUMBERS);
  }
  return zeros;
}

/**
 * `zeros` with the values in it, as far as there are any for them. Pauses now and then.
 * @param valuesNow asked anew for each part, for values may have moved during a pause
 */
export function* filledInSteps<T extends Uint32Array | Float64Array>(
  zeros: T,
  valuesNow: () => Uint32Array | Float64Array,
): Generator<undefined, T> {
  for (let from = 0; from < zeros.length; from += STEP_NUMBERS) {
    if (from > 0) yield;
    zeros.set(valuesNow().subarray(from, Math.min(from + STEP_NUMBERS, zeros.length)), from);
  }
  return zeros;
}
