/** A memory seen as words; a byte offset becomes an index by `>>> 2`, of the double ones by `>>> 3`. */
export interface Words {
  readonly doubles: Float64Array<SharedArrayBuffer>;
  readonly floats: Float32Array<SharedArrayBuffer>;
  readonly ints: Uint32Array<SharedArrayBuffer>;
}

export function wordsOf({ buffer }: { readonly buffer: ArrayBufferLike }): Words {
  const shared = buffer as SharedArrayBuffer;
  return {
    doubles: new Float64Array(shared),
    floats: new Float32Array(shared),
    ints: new Uint32Array(shared),
  };
}
