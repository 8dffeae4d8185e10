import { deserialize, serialize } from 'node:v8';
import type { CatalogueItem, ItemList } from '../../data-store.ts';
import type { PlainItems } from '../tables/writer-messages.ts';

/** Items in one piece: unpacking it takes a fraction of a millisecond. */
const PIECE_ITEMS = 128;

/**
 * Items to be sent to another thread: a few as they are, which costs least, and many as bytes, a piece at a time, so that
 * the receiving thread need not read all of a large commit at once.
 */
export function packItems(items: readonly CatalogueItem[]): PlainItems {
  if (items.length <= PIECE_ITEMS) return items;
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let from = 0; from < items.length; from += PIECE_ITEMS) {
    // Of its own buffer, which is handed over whole.
    pieces.push(Uint8Array.from(serialize(items.slice(from, from + PIECE_ITEMS))));
  }
  return { pieces, length: items.length };
}

/** The items on the receiving side. */
export function unpackItems(items: PlainItems): ItemList {
  return 'pieces' in items ? new PackedItems(items.pieces, items.length) : items;
}

/** The buffers of items that are worth being transferred rather than copied. */
export function itemBuffers(items: PlainItems): ArrayBuffer[] {
  return 'pieces' in items ? items.pieces.map(({ buffer }) => buffer) : [];
}

/** Packed items, each piece read when its first item is asked for, and again by who asks again. */
class PackedItems implements ItemList {
  readonly length: number;
  private readonly pieces: readonly Uint8Array[];

  constructor(pieces: readonly Uint8Array[], length: number) {
    this.pieces = pieces;
    this.length = length;
  }

  *[Symbol.iterator](): Iterator<CatalogueItem> {
    for (const piece of this.pieces) yield* deserialize(piece) as CatalogueItem[];
  }
}
