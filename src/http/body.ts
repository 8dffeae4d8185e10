/** The part of a response object that hands out the request's body. */
export interface BodySource {
  onData(handler: (chunk: Uint8Array, isLast: boolean) => void): unknown;
}

/**
 * Gathers a body while it streams and gives up as soon as it is over the limit; the rest then flows by unread.
 * @param lengthBytes what Content-Length says, 0 when it says nothing
 * @param done called once, with undefined when the body is too large; never when the request aborts
 */
export function readBody(
  source: BodySource,
  lengthBytes: number,
  bytesMax: number,
  done: (body: Uint8Array<ArrayBuffer> | undefined) => void,
): void {
  const tooLong = lengthBytes > bytesMax;
  let finished = tooLong;
  // Pages of a large buffer that no byte is written to cost nothing, so a false length buys no memory.
  let buffer = new Uint8Array(tooLong ? 0 : lengthBytes);
  let size = 0;
  source.onData((chunk, isLast) => {
    if (finished) return;
    const end = size + chunk.byteLength;
    if (end > bytesMax) {
      finished = true;
      buffer = new Uint8Array(0);
      done(undefined);
      return;
    }
    if (end > buffer.length) buffer = grow(buffer, size, end);
    // The chunk is the engine's and gone after this call.
    buffer.set(chunk, size);
    size = end;
    if (!isLast) return;
    finished = true;
    done(size === buffer.length ? buffer : buffer.subarray(0, size));
  });
  // Told last: an answer ends the source, and an ended source takes no handler.
  if (tooLong) done(undefined);
}

function grow(buffer: Uint8Array<ArrayBuffer>, size: number, atLeast: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(atLeast, buffer.length * 2));
  larger.set(buffer.subarray(0, size));
  return larger;
}
