/**
 * Self-describing bytes around what was learnt: magic, version, bytes of the description, checksum of the rest, the
 * description in JSON padded to 4 bytes, then arrays of 32-bit numbers. All numbers are little-endian.
 */
import { FurzeError } from '../domain/errors.ts';

const PREFIX_BYTES = 16;

/** Tells one kind of record from the others. */
export interface FrameFormat {
  /** The first four bytes, as a little-endian uint32. */
  readonly magic: number;
  readonly version: number;
  /** What the bytes hold, for messages: "matrix factorisation". */
  readonly what: string;
}

/** A record read back: the description as it was written, and the words of the arrays one after the other. */
export interface Frame {
  readonly header: unknown;
  readonly words: Uint32Array;
}

/** The bytes of a record. @param header goes through JSON */
export function encodeFrame(
  { magic, version }: FrameFormat,
  header: object,
  arrays: readonly (Uint32Array | Float32Array)[],
): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(header));
  const headerBytes = Math.ceil(json.length / 4) * 4;
  const start = PREFIX_BYTES + headerBytes;
  const bytes = new Uint8Array(arrays.reduce((sum, array) => sum + array.byteLength, start));
  let at = start;
  for (const array of arrays) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at += array.byteLength;
  }
  new Uint32Array(bytes.buffer, 0, 4).set([magic, version, headerBytes, checksum(bytes, start)]);
  bytes.fill(0x20, PREFIX_BYTES, start).set(json, PREFIX_BYTES);
  return bytes;
}

/**
 * Reads what `encodeFrame` wrote in the same format.
 * @throws FurzeError INTERNAL when the bytes are of another kind or version, cut short or damaged
 */
export function decodeFrame(format: FrameFormat, bytes: Uint8Array): Frame {
  // A copy, because views of 4-byte numbers need an aligned start.
  const copy = bytes.slice();
  if (copy.length < PREFIX_BYTES) refuseFrame(format, 'it is too short');
  const [magic, version, headerBytes, sum] = new Uint32Array(copy.buffer, 0, 4);
  if (magic !== format.magic) refuseFrame(format, 'it does not begin as one');
  if (version !== format.version) {
    refuseFrame(format, `its version is ${version}, this program reads ${format.version}`);
  }
  const start = PREFIX_BYTES + headerBytes!;
  if (headerBytes! % 4 !== 0 || start > copy.length) refuseFrame(format, 'its description is cut short');
  if (copy.length % 4 !== 0 || checksum(copy, start) !== sum) refuseFrame(format, 'its checksum differs');
  return {
    header: readHeader(format, copy.subarray(PREFIX_BYTES, start)),
    words: new Uint32Array(copy.buffer, start),
  };
}

function readHeader(format: FrameFormat, json: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(json));
  } catch {
    return refuseFrame(format, 'its description cannot be read');
  }
}

/** @throws FurzeError INTERNAL always */
export function refuseFrame({ what }: FrameFormat, reason: string): never {
  throw new FurzeError('INTERNAL', `not a usable ${what}: ${reason}`);
}

/** FNV-1a over the 32-bit words from `start` to the end. */
function checksum(bytes: Uint8Array, start: number): number {
  let hash = 0x811c9dc5;
  for (const word of new Uint32Array(bytes.buffer, start, Math.floor((bytes.length - start) / 4))) {
    hash = Math.imul(hash ^ word, 0x01000193);
    hash ^= hash >>> 15;
  }
  return hash >>> 0;
}
