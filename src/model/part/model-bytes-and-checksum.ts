/**
 * The form in which a trained model is kept, or any value with arrays of numbers in it: a prefix (magic, version, bytes of the
 * description, checksum), a description padded to 4 bytes, then the numbers. The description is the value in JSON, in which
 * `{ "$u32": length }` or `{ "$f32": length }` stands for an array; the numbers follow in the order of these. Maps stand as
 * `{ "$map": entries }`, NaN and infinities as `{ "$number": text }`.
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

/** The value as bytes. @param value plain data beside arrays, maps and numbers */
export function encodeNested(kind: FrameKind, value: object): Uint8Array {
  const arrays: (Float32Array | Uint32Array)[] = [];
  const text = JSON.stringify(value, (_, part) => {
    if (part instanceof Map) return { $map: [...part] };
    if (typeof part === 'number' && !Number.isFinite(part)) return { $number: String(part) };
    const isWords = part instanceof Uint32Array;
    if (!isWords && !(part instanceof Float32Array)) return part;
    arrays.push(part);
    return isWords ? { $u32: part.length } : { $f32: part.length };
  });
  const json = new TextEncoder().encode(text);
  const headerBytes = Math.ceil(json.length / 4) * 4;
  const start = PREFIX_BYTES + headerBytes;
  const bytes = new Uint8Array(arrays.reduce((sum, { byteLength }) => sum + byteLength, start));
  let next = start;
  for (const { buffer, byteOffset, byteLength } of arrays) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), next);
    next += byteLength;
  }
  bytes.fill(0x20, PREFIX_BYTES, start).set(json, PREFIX_BYTES);
  new Uint32Array(bytes.buffer, 0, 4).set([kind.magic, kind.version, headerBytes, checksum(bytes)]);
  return bytes;
}

/**
 * Reads what `encodeNested` wrote; what the value says is the caller's to judge. Its arrays may lie in `bytes`, which are
 * used up.
 * @param isSound whether the bytes are as they were made, so that their checksum need not be compared
 * @throws OtherForm when the bytes are of another version
 * @throws FurzeError INTERNAL when the bytes are not of this kind, cut short or damaged
 */
export function decodeNested(kind: FrameKind, bytes: Uint8Array, isSound = false): unknown {
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
  if (!isSound && checksum(copy) !== sum) refuseModel(kind, 'its checksum differs');
  if ((copy.length - start) % 4 !== 0) refuseModel(kind, 'its size does not fit its shape');
  const floats = new Float32Array(copy.buffer, copy.byteOffset + start, (copy.length - start) / 4);
  let next = 0;
  const take = (length: number) => floats.subarray(next, (next += length));
  let value: unknown;
  try {
    const json = new TextDecoder().decode(copy.subarray(PREFIX_BYTES, start));
    value = JSON.parse(json, (_, part) => {
      if (typeof part !== 'object' || part === null) return part;
      if ('$f32' in part) return take(part.$f32);
      if ('$u32' in part) return asWords(take(part.$u32));
      if ('$map' in part) return new Map(part.$map);
      return '$number' in part ? Number(part.$number) : part;
    });
  } catch {
    refuseModel(kind, 'its description cannot be read');
  }
  if (next !== floats.length) refuseModel(kind, 'its size does not fit its shape');
  return value;
}

function asWords({ buffer, byteOffset, length }: Float32Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length);
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
