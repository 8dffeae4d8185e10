/**
 * The form in which a trained model is kept: a prefix (magic, version, bytes of the description, checksum), a
 * description in JSON padded to 4 bytes, then the model's numbers, float32 or uint32.
 */
import { FurzeError, OtherForm } from '../../domain/furze-error.ts';
import { FNV_BASIS, fnvWord } from '../../domain/hash.ts';

const PREFIX_BYTES = 16;

/** Signature of one kind of model's bytes. */
export interface FrameKind {
  /** Four letters as a little-endian uint32. */
  readonly magic: number;
  readonly version: number;
  /** Name in a refusal. */
  readonly name: string;
}

type Reviver = NonNullable<Parameters<typeof JSON.parse>[1]>;

/** The model as bytes. @param replace as `JSON.stringify` takes it, for the description; may add to `arrays` */
export function encodeFrame(
  kind: FrameKind,
  description: object,
  arrays: readonly (Float32Array | Uint32Array)[],
  replace?: (key: string, value: unknown) => unknown,
): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(description, replace));
  const headerBytes = Math.ceil(json.length / 4) * 4;
  const start = PREFIX_BYTES + headerBytes;
  const bytes = new Uint8Array(arrays.reduce((sum, { byteLength }) => sum + byteLength, start));
  let next = start;
  for (const { buffer, byteOffset, byteLength } of arrays) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), next);
    next += byteLength;
  }
  bytes.fill(0x20, PREFIX_BYTES, start).set(json, PREFIX_BYTES);
  const sum = checksum(bytes);
  new Uint32Array(bytes.buffer, 0, 4).set([kind.magic, kind.version, headerBytes, sum]);
  return bytes;
}

/**
 * Reads what `encodeFrame` wrote; what the description says is the caller's to judge. The numbers may lie in `bytes`,
 * which are used up.
 * @param isSound whether the bytes are as they were made, so that their checksum need not be compared
 * @param reviveWith gives what `JSON.parse` takes for the description, by the numbers
 * @throws OtherForm when the bytes are of another version
 * @throws FurzeError INTERNAL when the bytes are not of this kind, cut short or damaged
 */
export function decodeFrame(
  kind: FrameKind,
  bytes: Uint8Array,
  isSound = false,
  reviveWith?: (floats: Float32Array<ArrayBuffer>) => Reviver,
): { readonly description: unknown; readonly floats: Float32Array<ArrayBuffer> } {
  const copy = aligned(bytes);
  if (copy.length < PREFIX_BYTES) refuseModel(kind, 'it is too short');
  const prefix = new Uint32Array(copy.buffer, copy.byteOffset, 4);
  const [magic, version, headerBytes, sum] = [prefix[0], prefix[1], prefix[2]!, prefix[3]];
  if (magic !== kind.magic) refuseModel(kind, 'it does not begin as one');
  if (version !== kind.version)
    throw new OtherForm(
      `not a usable ${kind.name}: its version is ${version}, this program reads ${kind.version}`,
    );
  const start = PREFIX_BYTES + headerBytes;
  if (headerBytes % 4 !== 0 || start > copy.length) refuseModel(kind, 'its description is cut short');
  if (!isSound && checksum(copy) !== sum) {
    refuseModel(kind, 'its checksum differs');
  }
  if ((copy.length - start) % 4 !== 0) refuseModel(kind, 'its size does not fit its shape');
  const floats = new Float32Array(copy.buffer, copy.byteOffset + start, (copy.length - start) / 4);
  let description: unknown;
  try {
    const json = new TextDecoder().decode(copy.subarray(PREFIX_BYTES, start));
    description = JSON.parse(json, reviveWith?.(floats));
  } catch {
    refuseModel(kind, 'its description cannot be read');
  }
  return { description, floats };
}

/** The bytes where views of 4-byte numbers can be made of them; a copy where they lie otherwise, or other threads have them. */
function aligned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, length } = bytes;
  return buffer instanceof ArrayBuffer && byteOffset % 4 === 0
    ? new Uint8Array(buffer, byteOffset, length)
    : new Uint8Array(bytes);
}

/** @throws FurzeError INTERNAL, always */
export function refuseModel({ name }: FrameKind, reason: string): never {
  throw new FurzeError('INTERNAL', `not a usable ${name}: ${reason}`);
}

/** Over the 32-bit words behind the prefix. */
function checksum(bytes: Uint8Array<ArrayBuffer>): number {
  let hash = FNV_BASIS;
  // An index, because an iterator takes five times as long.
  const words = new Uint32Array(
    bytes.buffer,
    bytes.byteOffset + PREFIX_BYTES,
    Math.floor((bytes.length - PREFIX_BYTES) / 4),
  );
  for (let at = 0; at < words.length; at++) hash = fnvWord(hash, words[at]!);
  return hash >>> 0;
}
