import { endianness } from 'node:os';
import { OperatorError } from '../domain/operator-error.ts';

/** An array of NumPy as its file has it, format 1.0 to 3.0 (NumPy enhancement proposal 1). */
export interface NpyArray {
  readonly shape: readonly number[];
  /** Kind of its elements and their bytes, as `f4`. */
  readonly type: string;
  /** Little-endian, a row after the other. */
  readonly bytes: Uint8Array;
}

const MAGIC = '\x93NUMPY';
const TYPES = /^[<|=]?(f4|f8|i4|i8|u4|u8|[US][1-9]\d{0,3})$/;

/**
 * Reads a file of `numpy.save`.
 * @param name of the file, for errors
 * @throws OperatorError when it is none, is cut short, or holds what has no place here
 */
export function readNpy(bytes: Uint8Array, name: string): NpyArray {
  if (bytes.length < 12 || Buffer.from(bytes.subarray(0, 6)).toString('latin1') !== MAGIC)
    throw new OperatorError(`${name} is no file of numpy.save.`);
  const isLong = bytes[6]! > 1;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const start = isLong ? 12 : 10;
  const end = start + (isLong ? view.getUint32(8, true) : view.getUint16(8, true));
  const header = new TextDecoder().decode(bytes.subarray(start, end));
  const { descr, order, shape } =
    /'descr':\s*'(?<descr>[^']*)'.*'fortran_order':\s*(?<order>\w+).*'shape':\s*\((?<shape>[^)]*)\)/.exec(
      header,
    )?.groups ?? {};
  const type = TYPES.exec(descr ?? '')?.[1];
  if (type === undefined || endianness() !== 'LE')
    throw new OperatorError(
      `${name} holds elements of type ${descr ?? 'unknown'}; there may be floats, whole numbers or text, little-endian.`,
    );
  const lengths = shape!.split(',').flatMap((text) => (text.trim() === '' ? [] : [Number(text)]));
  if (order === 'True' && lengths.length > 1)
    throw new OperatorError(`${name} lies column by column; save numpy.ascontiguousarray of it.`);
  if (!lengths.every((length) => Number.isInteger(length) && length >= 0))
    throw new OperatorError(`${name} has a shape of ${shape}: there may be whole numbers.`);
  const size = lengths.reduce((product, length) => product * length, elementBytes(type));
  // Any number of rows without numbers takes no bytes.
  if (bytes.length - end !== size || (size === 0 && lengths[0] !== 0))
    throw new OperatorError(`${name} should hold ${size} bytes of numbers and holds ${bytes.length - end}.`);
  return { shape: lengths, type, bytes: bytes.subarray(end) };
}

/** The elements of an array as text: ids. */
export function npyTexts({ type, bytes, shape }: NpyArray, name: string): string[] {
  if (shape.length !== 1) throw new OperatorError(`${name} should have one dimension.`);
  const each = elementBytes(type);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: shape[0]! }, (_, at) => {
    const from = at * each;
    if (type.startsWith('f'))
      throw new OperatorError(`${name} holds fractions; ids are text or whole numbers.`);
    if (type.startsWith('S'))
      return new TextDecoder().decode(bytes.subarray(from, from + each)).replace(/\0+$/, '');
    if (type.startsWith('U')) {
      const points = Array.from({ length: each / 4 }, (_code, code) => view.getUint32(from + 4 * code, true));
      if (points.some((point) => point > 0x10ffff))
        throw new OperatorError(`${name} holds no text in row ${at + 1}.`);
      return String.fromCodePoint(...points).replace(/\0+$/, '');
    }
    if (each === 8)
      return String(type === 'i8' ? view.getBigInt64(from, true) : view.getBigUint64(from, true));
    return String(type === 'i4' ? view.getInt32(from, true) : view.getUint32(from, true));
  });
}

/** The rows of an array of two dimensions. */
export function* npyRows({ type, bytes, shape }: NpyArray, name: string): Generator<Float32Array> {
  const [rows, columns] = shape;
  if (shape.length !== 2 || !type.startsWith('f'))
    throw new OperatorError(`${name} should hold floats in two dimensions: a vector a row.`);
  const rowBytes = columns! * elementBytes(type);
  for (let row = 0; row < rows!; row++) {
    // A copy, where its bytes stand as they must.
    const { buffer } = new Uint8Array(bytes.subarray(row * rowBytes, (row + 1) * rowBytes));
    yield type === 'f4' ? new Float32Array(buffer) : Float32Array.from(new Float64Array(buffer));
  }
}

/** The number of an array without dimensions; undefined for another. */
export function npyNumber({ type, bytes, shape }: NpyArray): number | undefined {
  if (shape.length > 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (type === 'f4') return view.getFloat32(0, true);
  if (type === 'f8') return view.getFloat64(0, true);
  return type === 'i8' ? Number(view.getBigInt64(0, true)) : undefined;
}

function elementBytes(type: string): number {
  return Number(type.slice(1)) * (type.startsWith('U') ? 4 : 1);
}
