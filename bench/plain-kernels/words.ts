/** A memory seen as words; a byte offset becomes an index by `>>> 2`. */
export interface Words {
  readonly floats: Float32Array<SharedArrayBuffer>;
  readonly ints: Uint32Array<SharedArrayBuffer>;
}
