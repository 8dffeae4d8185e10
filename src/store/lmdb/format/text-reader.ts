import { FNV_BASIS, fnv } from '../../../domain/hash.ts';

/** Bytes of a text that is read faster by hand than by a decoder: V8 makes a tree of pieces of a longer one. */
const SHORT_BYTES = 12;
/** Bytes of a name that may be kept. */
const KNOWN_BYTES = 32;

/** Texts of lists that are kept to be answered again, a power of two: most are names of a few categories and labels. */
const KNOWN = 1024;

/**
 * Reads texts and lists of texts that were written as MessagePack, without what a decoder of everything costs: a point
 * read has four of them. One reader serves all reads in turn.
 */
export class TextReader {
  private bytes = Buffer.alloc(0);
  private at = 0;
  /** Texts of lists by a hash of their bytes, each in the place of the one before. */
  private readonly known = new Array<string>(KNOWN).fill('');

  /** Starts at position `at` of bytes that may be a reused buffer. */
  open(bytes: Uint8Array, at: number): this {
    this.bytes = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = at;
    return this;
  }

  /** The number of elements of the array that starts here. */
  arrayLength(): number {
    const first = this.number(1);
    if (first >> 4 === 0x9) return first & 0xf;
    if (first === 0xdc) return this.number(2);
    if (first === 0xdd) return this.number(4);
    throw new Error(`no array starts with byte ${first}`);
  }

  texts(): string[] {
    const length = this.arrayLength();
    const all = new Array<string>(length);
    for (let i = 0; i < length; i++) all[i] = this.name();
    return all;
  }

  text(): string {
    return this.characters(this.textLength());
  }

  /** As `text`, and the same string again where the text is a known one. */
  private name(): string {
    const length = this.textLength();
    if (length > KNOWN_BYTES) return this.characters(length);
    const { bytes, at, known } = this;
    let hash = FNV_BASIS;
    for (let i = 0; i < length; i++) hash = fnv(hash, bytes[at + i]!);
    const place = (hash ^ (hash >>> 15)) & (KNOWN - 1);
    const text = known[place]!;
    if (text.length !== length || !this.isAt(text)) return (known[place] = this.characters(length));
    this.at = at + length;
    return text;
  }

  /** True when the bytes from here on are those of the text, of which each character is one. */
  private isAt(text: string): boolean {
    const { bytes, at } = this;
    for (let i = 0; i < text.length; i++)
      if (text.charCodeAt(i) !== bytes[at + i]! || bytes[at + i]! >= 0x80) return false;
    return true;
  }

  private textLength(): number {
    const first = this.number(1);
    if (first >> 5 === 0x5) return first & 0x1f;
    if (first === 0xd9) return this.number(1);
    if (first === 0xda) return this.number(2);
    if (first === 0xdb) return this.number(4);
    throw new Error(`no text starts with byte ${first}`);
  }

  /** A text of so many bytes of UTF-8. */
  characters(length: number): string {
    const { bytes, at } = this;
    const end = at + length;
    this.at = end;
    if (length <= SHORT_BYTES) {
      let text = '';
      let next = at;
      for (; next < end && bytes[next]! < 0x80; next++) text += String.fromCharCode(bytes[next]!);
      if (next === end) return text;
    }
    return bytes.toString('utf8', at, end);
  }

  /** A big-endian number. */
  private number(width: number): number {
    if (width === 1) return this.bytes[this.at++]!;
    let value = 0;
    for (let i = 0; i < width; i++) value = value * 256 + this.bytes[this.at++]!;
    return value;
  }
}
