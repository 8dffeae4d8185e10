import { DatabaseAwayError } from './database-away-error.ts';

/** Head of a binary COPY (PostgreSQL documentation, "COPY", "Binary Format"): signature, flags, length of what follows. */
const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
const HEAD_BYTES = SIGNATURE.length + 8;
/** Fields of the row that stands for the end. */
const END = -1;
/** The message that a row of a COPY comes in, and what each message begins with: a letter, and its length without that. */
const COPY_DATA = 'd'.charCodeAt(0);
const MESSAGE_HEAD_BYTES = 5;
const LENGTH_BYTES = 4;
/** A row: the number of fields, and before each its length. */
const FIELDS = 3;
const ROW_BYTES = 2 + 8 + 8 + 12;

/** Told the two columns of four bytes of a row, and the words of that of eight, the upper one first: all unsigned. */
export type OnRow = (first: number, second: number, high: number, low: number) => void;

/**
 * Takes the rows of a binary COPY of two `integer` columns and a `bigint` out of what a server sends, none of which is null, and
 * leaves all else to the driver. That makes objects of each message, and takes several times as long for it.
 */
export class BinaryCopyParser {
  private readonly onRow: OnRow;
  private readonly pass: (bytes: Buffer) => void;
  private left: Buffer | undefined;
  private hasBegun = false;

  /** @param pass takes whole messages that are no rows */
  constructor(onRow: OnRow, pass: (bytes: Buffer) => void) {
    this.onRow = onRow;
    this.pass = pass;
  }

  /**
   * Takes what comes next, which may end within a message.
   * @throws Error for rows of another kind, or what `onRow` has thrown
   */
  take(chunk: Buffer): void {
    const bytes = this.left === undefined ? chunk : Buffer.concat([this.left, chunk]);
    this.left = undefined;
    let at = 0;
    while (at < bytes.length) {
      const head = at + MESSAGE_HEAD_BYTES;
      const end = head > bytes.length ? Number.POSITIVE_INFINITY : at + 1 + lengthAt(bytes, at + 1);
      if (end > bytes.length) {
        this.left = bytes.subarray(at);
        return;
      }
      if (bytes[at] === COPY_DATA) this.read(bytes, head, end);
      else this.pass(bytes.subarray(at, end));
      at = end;
    }
  }

  private read(bytes: Buffer, start: number, end: number): void {
    const at = this.hasBegun ? start : this.readHead(bytes, start);
    if (at === end) return;
    const fields = bytes.readInt16BE(at);
    if (fields === END) return;
    if (
      fields !== FIELDS ||
      end - at !== ROW_BYTES ||
      bytes.readInt32BE(at + 2) !== 4 ||
      bytes.readInt32BE(at + 10) !== 4
    )
      throw new Error('a row of a COPY of other columns');
    this.onRow(
      bytes.readUInt32BE(at + 6),
      bytes.readUInt32BE(at + 14),
      bytes.readUInt32BE(at + 22),
      bytes.readUInt32BE(at + 26),
    );
  }

  private readHead(bytes: Buffer, at: number): number {
    if (!bytes.subarray(at, at + SIGNATURE.length).equals(SIGNATURE))
      throw new Error('this is no binary COPY');
    this.hasBegun = true;
    return at + HEAD_BYTES + bytes.readInt32BE(at + SIGNATURE.length + 4);
  }
}

/** @throws DatabaseAwayError for what is no message: its length counts itself */
function lengthAt(bytes: Buffer, at: number): number {
  const length = bytes.readInt32BE(at);
  if (length < LENGTH_BYTES) throw new DatabaseAwayError(`a message of ${length} bytes`);
  return length;
}
