/** Bytes at the start of each message: a letter, and the length of the rest with these four bytes. */
const HEAD_BYTES = 5;
const LENGTH_BYTES = 4;
/** Errors and notices: fields of a letter and a text that ends with 0 each, and a 0 behind the last one. */
const TOLD: ReadonlySet<number> = new Set(['E'.charCodeAt(0), 'N'.charCodeAt(0)]);
/** No error of a server is longer. */
const TOLD_BYTES_MAX = 1024 * 1024;

/**
 * Looks at what a server sends before the driver does, which reads for ever in an error message without an end
 * (pg-protocol 1.16).
 */
export class MessageWatch {
  private readonly head = Buffer.alloc(HEAD_BYTES);
  private headBytes = 0;
  private left = 0;
  /** Pieces of the error message that is under way. */
  private told: Buffer[] | undefined;

  /** Takes what comes next, which may end within a message. @throws Error where the driver would not end */
  take(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.left === 0) {
        this.head[this.headBytes++] = chunk[at++]!;
        if (this.headBytes === HEAD_BYTES) this.begin();
      } else {
        const piece = chunk.subarray(at, at + this.left);
        this.told?.push(piece);
        this.left -= piece.length;
        at += piece.length;
      }
      if (this.left === 0 && this.headBytes === 0) this.end();
    }
  }

  private begin(): void {
    const length = this.head.readUInt32BE(1);
    const isTold = TOLD.has(this.head[0]!);
    if (length < LENGTH_BYTES || (isTold && length > TOLD_BYTES_MAX))
      throw new Error('the server sent a message of a wrong length');
    this.headBytes = 0;
    this.left = length - LENGTH_BYTES;
    this.told = isTold ? [] : undefined;
  }

  private end(): void {
    if (this.told === undefined) return;
    const whole = hasEnd(Buffer.concat(this.told));
    this.told = undefined;
    if (!whole) throw new Error('the server sent an error message without an end');
  }
}

function hasEnd(fields: Buffer): boolean {
  for (let at = 0; at < fields.length; ) {
    if (fields[at] === 0) return true;
    const end = fields.indexOf(0, at + 1);
    if (end < 0) return false;
    at = end + 1;
  }
  return false;
}
