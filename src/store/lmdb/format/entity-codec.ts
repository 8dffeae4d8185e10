import { Encoder } from '@msgpack/msgpack';
import type { Item, User } from '../../../domain/entities.ts';
import type { Json, LabelFields } from '../../../domain/labels.ts';
import { formatTimestamp, parseTimestamp } from '../../../domain/rfc3339.ts';
import type { CatalogueItem } from '../../data-store.ts';
import { TextReader } from './text-reader.ts';

/*
 * An entity starts with its id, so that a row becomes an id without decoding the rest.
 * User: u16 length of id | id | MessagePack [labels, subscribe, comment, (labels as given)]
 * Item: u16 length of id | id | u8 flags | f64 time (ms, NaN for none) | u32 length of MessagePack |
 *       MessagePack [categories, labels, (labels as given)] | comment
 * The comment stands last: a scan of the catalogue does not touch it. Labels as given are JSON text, there only where
 * they were more than a list of texts.
 */
const HIDDEN = 1;
const GIVEN = 2;
/** Elements of a user's array with labels as given. */
const USER_FIELDS_GIVEN = 4;
const ITEM_HEAD_BYTES = 1 + 8 + 4;

const encoder = new Encoder();
const reader = new TextReader();

export function encodeUser(user: User): Uint8Array {
  const rest = encoder.encodeSharedRef([user.Labels, user.Subscribe, user.Comment, ...given(user)]);
  const bytes = startWithId(user.UserId, rest.length);
  bytes.set(rest, bytes.length - rest.length);
  return bytes;
}

export function decodeUser(bytes: Uint8Array): User {
  const UserId = decodeId(bytes);
  const length = reader.open(bytes, endOfId(bytes)).arrayLength();
  const Labels = reader.texts();
  const Subscribe = reader.texts();
  const user = { UserId, Labels, Comment: reader.text(), Subscribe };
  return length < USER_FIELDS_GIVEN ? user : { ...user, LabelsAsGiven: readGiven() };
}

export function encodeItem(item: Item): Uint8Array {
  const lists = encoder.encodeSharedRef([item.Categories, item.Labels, ...given(item)]);
  const comment = Buffer.from(item.Comment);
  const bytes = startWithId(item.ItemId, ITEM_HEAD_BYTES + lists.length + comment.length);
  const at = endOfId(bytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  bytes[at] = (item.IsHidden ? HIDDEN : 0) | (item.LabelsAsGiven === undefined ? 0 : GIVEN);
  view.setFloat64(at + 1, item.Timestamp === '' ? Number.NaN : parseTimestamp(item.Timestamp), true);
  view.setUint32(at + 9, lists.length, true);
  bytes.set(lists, at + ITEM_HEAD_BYTES);
  bytes.set(comment, at + ITEM_HEAD_BYTES + lists.length);
  return bytes;
}

export function decodeItem(bytes: Uint8Array): Item {
  const item = decodeCatalogueItem(bytes, 0);
  const at = endOfId(bytes);
  // The reader stands behind the labels.
  const asGiven = (bytes[at]! & GIVEN) !== 0 && { LabelsAsGiven: readGiven() };
  const commentAt = at + ITEM_HEAD_BYTES + viewOf(bytes).getUint32(at + 9, true);
  return {
    ItemId: item.itemId,
    IsHidden: item.hidden,
    Categories: item.categories,
    Timestamp: Number.isNaN(item.timestampMs) ? '' : formatTimestamp(item.timestampMs),
    Labels: item.labels,
    Comment: reader.open(bytes, commentAt).characters(bytes.length - commentAt),
    ...asGiven,
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

/** Facts of an item for the recommenders, from the item itself. */
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

function given({ LabelsAsGiven }: LabelFields): string[] {
  return LabelsAsGiven === undefined ? [] : [JSON.stringify(LabelsAsGiven)];
}

function readGiven(): Json {
  return JSON.parse(reader.text()) as Json;
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
