/**
 * The framed form of a value with arrays of numbers anywhere in it. The description is the value in JSON, in which
 * `{ "$u32": length }` or `{ "$f32": length }` stands for an array; the numbers follow in the order of these. Maps stand as
 * `{ "$map": entries }`, NaN and infinities as `{ "$number": text }`.
 */
import { decodeFrame, encodeFrame, type FrameKind, refuseModel } from './model-bytes-and-checksum.ts';

/** The value as bytes. @param value plain data beside arrays, maps and numbers */
export function encodeNested(kind: FrameKind, value: object): Uint8Array {
  const arrays: (Float32Array | Uint32Array)[] = [];
  return encodeFrame(kind, value, arrays, (_, part) => {
    if (part instanceof Map) return { $map: [...part] };
    if (typeof part === 'number' && !Number.isFinite(part)) return { $number: String(part) };
    const isWords = part instanceof Uint32Array;
    if (!isWords && !(part instanceof Float32Array)) return part;
    arrays.push(part);
    return isWords ? { $u32: part.length } : { $f32: part.length };
  });
}

/** Reads what `encodeNested` wrote. See `decodeFrame` for what becomes of `bytes` and what it throws. */
export function decodeNested(kind: FrameKind, bytes: Uint8Array, isSound = false): unknown {
  let next = 0;
  const { description, floats } = decodeFrame(kind, bytes, isSound, (all) => {
    const take = (length: number) => all.subarray(next, (next += length));
    return (_, part) => {
      if (typeof part !== 'object' || part === null) return part;
      if ('$f32' in part) return take(part.$f32);
      if ('$u32' in part) return asWords(take(part.$u32));
      if ('$map' in part) return new Map(part.$map);
      return '$number' in part ? Number(part.$number) : part;
    };
  });
  if (next !== floats.length) refuseModel(kind, 'its size does not fit its shape');
  return description;
}

function asWords({ buffer, byteOffset, length }: Float32Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length);
}
