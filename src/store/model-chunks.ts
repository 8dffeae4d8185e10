/** Chunks that are under way at once. */
const UNDER_WAY = 4;

/** Does `work` for each chunk of a part of a model, some at once: to put it, or to fill it. An empty part has one, and none is empty else. */
export async function eachChunk(
  bytes: Uint8Array,
  chunkBytes: number,
  work: (chunk: Uint8Array, at: number, count: number) => Promise<void>,
): Promise<void> {
  const count = Math.max(1, Math.ceil(bytes.length / chunkBytes));
  let next = 0;
  const take = async () => {
    for (let at = next++; at < count; at = next++)
      await work(bytes.subarray(at * chunkBytes, (at + 1) * chunkBytes), at, count);
  };
  await Promise.all(Array.from({ length: Math.min(count, UNDER_WAY) }, take));
}
