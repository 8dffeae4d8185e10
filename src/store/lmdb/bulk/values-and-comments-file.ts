import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../../domain/operator-error.ts';
import { readAll, writeAll } from './sorted-runs.ts';

/** Value, bytes of the comment; the comment follows, up to a multiple of the unit. */
const HEAD_BYTES = 12;
const UNIT_BYTES = 8;
const UNITS_MAX = 2 ** 32 - 1;
const BUFFER_BYTES = 1024 * 1024;
/** Bytes that are read at first: most comments are shorter. */
const FIRST_BYTES = 256;

/** Values and comments of feedback in a file, by numbers below 2 ** 32. */
export class ValuesAndCommentsFile {
  private readonly file: number;
  private readonly waiting: Buffer[] = [];
  private waitingBytes = 0;
  /** The first unit is that of no note. */
  private fileBytes = UNIT_BYTES;

  /** @param folder where the file is made */
  constructor(folder: string) {
    this.file = openSync(join(folder, 'notes'), 'w+');
  }

  /** @returns the note's number, 0 for one of nothing */
  add(value: number, comment: string): number {
    if (value === 0 && comment === '') return 0;
    const length = Buffer.byteLength(comment);
    const bytes = Buffer.alloc(Math.ceil((HEAD_BYTES + length) / UNIT_BYTES) * UNIT_BYTES);
    bytes.writeDoubleLE(value, 0);
    bytes.writeUInt32LE(length, 8);
    bytes.write(comment, HEAD_BYTES);
    const number = (this.fileBytes + this.waitingBytes) / UNIT_BYTES;
    if (number > UNITS_MAX)
      throw new OperatorError(
        'Comments and values of more than 32 GiB do not fit in one import; name fewer files.',
      );
    this.waiting.push(bytes);
    this.waitingBytes += bytes.length;
    if (this.waitingBytes >= BUFFER_BYTES) this.flush();
    return number;
  }

  /** @param number as `add` gave it */
  read(number: number): { readonly value: number; readonly comment: string } {
    if (number === 0) return { value: 0, comment: '' };
    if (this.waitingBytes > 0) this.flush();
    let bytes = Buffer.alloc(FIRST_BYTES);
    readAll(this.file, bytes, number * UNIT_BYTES);
    const end = HEAD_BYTES + bytes.readUInt32LE(8);
    if (end > FIRST_BYTES) {
      bytes = Buffer.alloc(end);
      readAll(this.file, bytes, number * UNIT_BYTES);
    }
    return { value: bytes.readDoubleLE(0), comment: bytes.toString('utf8', HEAD_BYTES, end) };
  }

  close(): void {
    closeSync(this.file);
  }

  private flush(): void {
    const bytes = Buffer.concat(this.waiting);
    writeAll(this.file, bytes, this.fileBytes);
    this.fileBytes += bytes.length;
    this.waiting.length = 0;
    this.waitingBytes = 0;
  }
}
