import { PagedLists } from '../../memory/paged-lists.ts';

/** Texts that are kept, a power of two: most answers are made of a few popular items. */
const TEXTS = 32_768;

/** Bytes of an id that is read faster by hand: V8 makes a tree of pieces of a longer one. */
const SHORT_BYTES = 12;
/** First byte of an id, which says how the others are to be read: one of Latin-1 a character, which is faster, or UTF-8. */
const LATIN1 = 1;
const UTF8 = 2;

/** Ids by row, as bytes outside of the heap that is searched for garbage. */
export class ItemIds {
  /** One more than the highest row that ever had an id. */
  rowCount = 0;
  private readonly bytes = new PagedLists<Buffer>((length) => Buffer.allocUnsafeSlow(length));
  /** JSON of ids asked for lately, each in the place of the one before, and the row of each; -1 for none. */
  private readonly texts = new Array<string>(TEXTS).fill('');
  private readonly textRows = new Int32Array(TEXTS).fill(-1);

  has(row: number): boolean {
    return this.bytes.open(row) > 0;
  }

  at(row: number): string | undefined {
    const length = this.bytes.open(row);
    const { values, start } = this.bytes;
    if (length === 0) return undefined;
    const isLatin1 = values[start] === LATIN1;
    if (length > SHORT_BYTES || !isLatin1)
      return values.toString(isLatin1 ? 'latin1' : 'utf8', start + 1, start + length);
    let id = '';
    for (let at = start + 1; at < start + length; at++) id += String.fromCharCode(values[at]!);
    return id;
  }

  /** The id as JSON. */
  jsonAt(row: number): string | undefined {
    const place = row & (TEXTS - 1);
    if (this.textRows[place] === row) return this.texts[place];
    const id = this.at(row);
    if (id === undefined) return undefined;
    this.textRows[place] = row;
    return (this.texts[place] = JSON.stringify(id));
  }

  /** @param id well-formed Unicode, as all ids are */
  set(row: number, id: string): void {
    this.rowCount = Math.max(this.rowCount, row + 1);
    this.forgetText(row);
    const { length } = id;
    this.bytes.write(row, 1 + length);
    const { values, start } = this.bytes;
    values[start] = LATIN1;
    for (let at = 0; at < length; at++) {
      const unit = id.charCodeAt(at);
      if (unit > 0xff) {
        this.setUtf8(row, id);
        return;
      }
      values[start + 1 + at] = unit;
    }
  }

  remove(row: number): void {
    this.forgetText(row);
    if (this.has(row)) this.bytes.write(row, 0);
  }

  private setUtf8(row: number, id: string): void {
    this.bytes.write(row, 1 + Buffer.byteLength(id));
    const { values, start } = this.bytes;
    values[start] = UTF8;
    values.write(id, start + 1);
  }

  private forgetText(row: number): void {
    const place = row & (TEXTS - 1);
    if (this.textRows[place] === row) this.textRows[place] = -1;
  }
}
