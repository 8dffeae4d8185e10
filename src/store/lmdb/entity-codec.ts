import { Encoder } from '@msgpack/msgpack';
import type { Item, User } from '../../domain/entities.ts';
import { formatTimestamp, parseTimestamp } from '../../domain/time.ts';
import type { CatalogueItem } from '../data-store.ts';
import { TextReader } from './text-reader.ts';

/*
 * An entity starts with its id, so that a row becomes an id without decoding the rest.
 * User: u16 length of id | id | MessagePack [labels, subscribe, comment]
 * Item: u16 length of id | id | u8 flags | f64 time (ms, NaN for none) | u32 length of MessagePack |
 *       MessagePack [categories, labels] | comment
 * The comment stands last: a scan of the catalogue does not touch it.
 */
const HIDDEN = 1;
const ITEM_HEAD_BYTES = 1 + 8 + 4;

const encoder = new Encoder();
const reader = new TextReader();

export function encodeUser(user: User): Uint8Array {
  const rest = encoder.encodeSharedRef([user.Labels, user.Subscribe, user.Comment]);
  const bytes = startWithId(user.UserId, rest.length);
  bytes.set(rest, bytes.length - rest.length);
  return bytes;
}

export function decodeUser(bytes: Uint8Array): User {
  const UserId = decodeId(bytes);
  reader.open(bytes, endOfId(bytes)).arrayLength();
  const Labels = reader.texts();
  const Subscribe = reader.texts();
  return { UserId, Labels, Comment: reader.text(), Subscribe };
}

export function encodeItem(item: Item): Uint8Array {
  const lists = encoder.encodeSharedRef([item.Categories, item.Labels]);
  const comment = Buffer.from(item.Comment);
  const bytes = startWithId(item.ItemId, ITEM_HEAD_BYTES + lists.length + comment.length);
  const at = endOfId(bytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  bytes[at] = item.IsHidden ? HIDDEN : 0;
  view.setFloat64(at + 1, item.Timestamp === '' ? Number.NaN : parseTimestamp(item.Timestamp), true);
  view.setUint32(at + 9, lists.length, true);
  bytes.set(lists, at + ITEM_HEAD_BYTES);
  bytes.set(comment, at + ITEM_HEAD_BYTES + lists.length);
  return bytes;
}

export function decodeItem(bytes: Uint8Array): Item {
  const item = decodeCatalogueItem(bytes, 0);
  const at = endOfId(bytes);
  const commentAt = at + ITEM_HEAD_BYTES + viewOf(bytes).getUint32(at + 9, true);
  return {
    ItemId: item.itemId,
    IsHidden: item.hidden,
    Categories: item.categories,
    Timestamp: Number.isNaN(item.timestampMs) ? '' : formatTimestamp(item.timestampMs),
    Labels: item.labels,
    Comment: reader.open(bytes, commentAt).characters(bytes.length - commentAt),
  };
}

export function decodeCatalogueItem(bytes: Uint8Array, row: number): CatalogueItem {
  const at = endOfId(bytes);
  const itemId = decodeId(bytes);
  reader.open(bytes, at + ITEM_HEAD_BYTES).arrayLength();
  const categories = reader.texts();
  const labels = reader.texts();
  return {
    row,
    itemId,
    hidden: (bytes[at]! & HIDDEN) !== 0,
    timestampMs: viewOf(bytes).getFloat64(at + 1, true),
    categories,
    labels,
  };
}

/** What the recommenders know of an item, from the item itself. */
export function toCatalogueItem(item: Item, row: number): CatalogueItem {
  return {
    row,
    itemId: item.ItemId,
    hidden: item.IsHidden,
    timestampMs: item.Timestamp === '' ? Number.NaN : parseTimestamp(item.Timestamp),
    categories: item.Categories,
    labels: item.Labels,
  };
}

/** The id at the head of an encoded user or item. */
export function decodeId(bytes: Uint8Array): string {
  return reader.open(bytes, 2).characters(endOfId(bytes) - 2);
}

function startWithId(id: string, moreBytes: number): Uint8Array {
  const idBytes = Buffer.from(id);
  const bytes = new Uint8Array(2 + idBytes.length + moreBytes);
  bytes[0] = idBytes.length;
  bytes[1] = idBytes.length >>> 8;
  bytes.set(idBytes, 2);
  return bytes;
}

function endOfId(bytes: Uint8Array): number {
  return 2 + (bytes[0]! | (bytes[1]! << 8));
}

/** A view of the bytes, made anew only when they lie elsewhere: reads share one buffer. */
function viewOf(bytes: Uint8Array): DataView {
  if (lastView.buffer !== bytes.buffer || lastView.byteOffset !== bytes.byteOffset) {
    lastView = new DataView(bytes.buffer, bytes.byteOffset);
  }
  return lastView;
}

let lastView: DataView = new DataView(new ArrayBuffer(0));
