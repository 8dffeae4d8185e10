/** Bytes that a short text takes beside its characters: its header and the pointer to it. */
const TEXT_OVERHEAD_BYTES = 24;
/** Characters of a text that is worth its memory. */
const TEXT_LENGTH_MAX = 1024;

/** The last answer of each slot as text, as long as all of them together stay within their memory. */
export class AnswerTexts {
  private readonly texts: (string | undefined)[] = [];
  private readonly counts: Uint8Array;
  private readonly bytesMax: number;
  private bytes = 0;

  /** @param slots number of slots, numbered from 0 */
  constructor(slots: number, bytesMax: number) {
    this.counts = new Uint8Array(slots);
    this.bytesMax = bytesMax;
  }

  /** Number of rows that the slot's text is of, 0 for no text. */
  countAt(slot: number): number {
    return this.counts[slot]!;
  }

  textAt(slot: number): string | undefined {
    return this.texts[slot];
  }

  put(slot: number, text: string, count: number): void {
    this.drop(slot);
    const bytes = bytesOf(text);
    if (text.length > TEXT_LENGTH_MAX || this.bytes + bytes > this.bytesMax) return;
    // Slots come in no order, and an array with holes would turn into a dictionary.
    while (this.texts.length <= slot) this.texts.push(undefined);
    this.texts[slot] = text;
    this.counts[slot] = count;
    this.bytes += bytes;
  }

  drop(slot: number): void {
    const text = this.texts[slot];
    if (text === undefined) return;
    this.texts[slot] = undefined;
    this.counts[slot] = 0;
    this.bytes -= bytesOf(text);
  }
}

/** The engine keeps a text in one byte a character when all are Latin-1, else in two. */
function bytesOf(text: string): number {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > 0xff) return TEXT_OVERHEAD_BYTES + text.length * 2;
  }
  return TEXT_OVERHEAD_BYTES + text.length;
}
