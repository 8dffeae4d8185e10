/** What a binary COPY begins with (PostgreSQL documentation, "COPY", "Binary Format"): signature, flags, length of what follows. */
const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
const HEAD_BYTES = SIGNATURE.length + 8;
/** Fields of the row that stands for the end. */
const END = -1;

/** Reads the messages of a binary COPY whose columns are all integers that are not null, of 2, 4 or 8 bytes. */
export class CopyRows {
  private hasBegun = false;
  private readonly row: number[] = [];

  /**
   * The row of a message; undefined for the end.
   * @returns the same array each time; integers of 8 bytes must be below 2 ** 53
   * @throws Error for what is no such row
   */
  read(bytes: Buffer): readonly number[] | undefined {
    let at = this.hasBegun ? 0 : this.readHead(bytes);
    if (at === bytes.length) return undefined;
    const { row } = this;
    const fields = bytes.readInt16BE(at);
    if (fields === END) return undefined;
    row.length = fields;
    at += 2;
    for (let field = 0; field < fields; field++) {
      const length = bytes.readInt32BE(at);
      at += 4;
      row[field] = readInteger(bytes, at, length);
      at += length;
    }
    return row;
  }

  private readHead(bytes: Buffer): number {
    if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) throw new Error('this is no binary COPY');
    this.hasBegun = true;
    return HEAD_BYTES + bytes.readInt32BE(SIGNATURE.length + 4);
  }
}

function readInteger(bytes: Buffer, at: number, length: number): number {
  if (length === 4) return bytes.readInt32BE(at);
  if (length === 8) return bytes.readInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);
  if (length === 2) return bytes.readInt16BE(at);
  throw new Error(`an integer of ${length} bytes`);
}
