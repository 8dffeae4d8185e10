/** Records to write: a JSON body as it came (checked and decoded by the writer), or decoded records. */
export type Batch<T> =
  | { readonly json: Uint8Array<ArrayBuffer>; readonly single: boolean }
  | { readonly records: readonly T[] };
