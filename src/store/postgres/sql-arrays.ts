/*
 * Arrays of numbers in PostgreSQL's binary form, which the server reads several times faster than text: i32 dimensions,
 * i32 has nulls, i32 type | i32 length, i32 lower bound | (i32 bytes, value)*, all big-endian. A parameter that is a
 * buffer is sent as binary.
 */
const HEAD_BYTES = 20;
const INT2_OID = 21;
const INT4_OID = 23;
const INT8_OID = 20;
const FLOAT8_OID = 701;

export function int2Array(values: ArrayLike<number>): Buffer {
  return encode(values, INT2_OID, 2, (buffer, value, at) => buffer.writeInt16BE(value, at));
}

export function int4Array(values: ArrayLike<number>): Buffer {
  return encode(values, INT4_OID, 4, (buffer, value, at) => buffer.writeInt32BE(value, at));
}

/** @param high the upper 32 bits of each value, unsigned @param low the lower ones */
export function int8ArrayOfWords(high: ArrayLike<number>, low: ArrayLike<number>): Buffer {
  return encode(high, INT8_OID, 8, (buffer, value, at, index) => {
    buffer.writeUInt32BE(value, at);
    buffer.writeUInt32BE(low[index]!, at + 4);
  });
}

export function float8Array(values: ArrayLike<number>): Buffer {
  return encode(values, FLOAT8_OID, 8, (buffer, value, at) => buffer.writeDoubleBE(value, at));
}

/** The numbers of an array that has no nulls; none for null. */
export function int4s(array: Buffer | null): Int32Array {
  return decode(array, 1);
}

/** The same of 64 bits each: high word, low word. */
export function int8Words(array: Buffer | null): Int32Array {
  return decode(array, 2);
}

function decode(array: Buffer | null, words: number): Int32Array {
  const bytesEach = 4 + words * 4;
  const length = array === null ? 0 : Math.max(0, (array.length - HEAD_BYTES) / bytesEach);
  return Int32Array.from({ length: length * words }, (_, at) =>
    array!.readInt32BE(HEAD_BYTES + Math.floor(at / words) * bytesEach + 4 + (at % words) * 4),
  );
}

function encode(
  values: ArrayLike<number>,
  oid: number,
  bytes: number,
  write: (buffer: Buffer, value: number, at: number, index: number) => void,
): Buffer {
  const { length } = values;
  const buffer = Buffer.allocUnsafe(HEAD_BYTES + length * (4 + bytes));
  buffer.writeInt32BE(1, 0);
  buffer.writeInt32BE(0, 4);
  buffer.writeInt32BE(oid, 8);
  buffer.writeInt32BE(length, 12);
  buffer.writeInt32BE(1, 16);
  for (let at = HEAD_BYTES, i = 0; i < length; i++, at += 4 + bytes) {
    buffer.writeInt32BE(bytes, at);
    write(buffer, values[i]!, at + 4, i);
  }
  return buffer;
}
