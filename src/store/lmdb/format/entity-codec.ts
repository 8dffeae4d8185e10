import { Encoder } from '@msgpack/msgpack';
import type { Item, User } from '../../../domain/entities.ts';
import { EMPTY_ITEM, ITEM_FIELDS, namesOfKind } from '../../../domain/entity-fields.ts';
import type { Json, LabelFields } from '../../../domain/labels.ts';
import { formatTimestamp, parseTimestamp } from '../../../domain/rfc3339.ts';
import type { CatalogueItem } from '../../data-store.ts';
import { TextReader } from './text-reader.ts';

/*
 * An entity starts with its id, so that a row becomes an id without decoding the rest.
 * User: u16 length of id | id | MessagePack [labels, subscribe, comment, (labels as given)]
 * Item: u16 length of id | id | u8 flags | f64 each time (ms, NaN for none) | u32 length of MessagePack |
 *       MessagePack [lists of texts, (labels as given), texts but the last] | last text
 * The fields of each kind follow the order of `ITEM_FIELDS`: flags, categories and labels, the time, the comment. The
 * comment stands last: a scan of the catalogue does not touch it. Labels as given are JSON text, there only where they
 * were more than a list of texts.
 */
const FLAGS = namesOfKind(ITEM_FIELDS, 'flag');
const LISTS = namesOfKind(ITEM_FIELDS, 'texts', 'labels');
const TIMES = namesOfKind(ITEM_FIELDS, 'time');
const TEXTS = namesOfKind(ITEM_FIELDS, 'text').reverse();
const LAST_TEXT = TEXTS.pop()!;

type Writable = { -readonly [Name in keyof Item]: Item[Name] };

/** Flag of the byte of flags: labels are there as given. Flags of fields take the other bits from the lowest on. */
const GIVEN = 2;
const FLAG_BITS = [1, 4, 8, 16, 32, 64, 128];
const HIDDEN = FLAG_BITS[FLAGS.indexOf('IsHidden')]!;
/** Elements of a user's array with labels as given. */
const USER_FIELDS_GIVEN = 4;
const ITEM_HEAD_BYTES = 1 + 8 * TIMES.length + 4;
const TIMESTAMP_AT = 1 + 8 * TIMES.indexOf('Timestamp');

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
  const lists = encoder.encodeSharedRef([
    ...LISTS.map((name) => item[name]),
    ...given(item),
    ...TEXTS.map((name) => item[name]),
  ]);
  const lastText = Buffer.from(item[LAST_TEXT]);
  const bytes = startWithId(item.ItemId, ITEM_HEAD_BYTES + lists.length + lastText.length);
  const at = endOfId(bytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  bytes[at] = FLAGS.reduce((bits, name, n) => bits | (item[name] ? FLAG_BITS[n]! : 0), givenFlag(item));
  TIMES.forEach((name, n) => {
    view.setFloat64(at + 1 + 8 * n, timeMsOf(item[name]), true);
  });
  const listsAt = at + ITEM_HEAD_BYTES;
  view.setUint32(listsAt - 4, lists.length, true);
  bytes.set(lists, listsAt);
  bytes.set(lastText, listsAt + lists.length);
  return bytes;
}

export function decodeItem(bytes: Uint8Array): Item {
  const at = endOfId(bytes);
  const view = viewOf(bytes);
  const flags = bytes[at]!;
  // All fields at once, in the order of answers: to add them one by one takes twice as long.
  const item: Writable = { ItemId: decodeId(bytes), ...EMPTY_ITEM };
  for (let n = 0; n < FLAGS.length; n++) item[FLAGS[n]!] = (flags & FLAG_BITS[n]!) !== 0;
  for (let n = 0; n < TIMES.length; n++) {
    const timeMs = view.getFloat64(at + 1 + 8 * n, true);
    if (!Number.isNaN(timeMs)) item[TIMES[n]!] = formatTimestamp(timeMs);
  }
  const listsAt = at + ITEM_HEAD_BYTES;
  reader.open(bytes, listsAt).arrayLength();
  for (let n = 0; n < LISTS.length; n++) item[LISTS[n]!] = reader.texts();
  if ((flags & GIVEN) !== 0) item.LabelsAsGiven = readGiven();
  for (let n = 0; n < TEXTS.length; n++) item[TEXTS[n]!] = reader.text();
  const lastAt = listsAt + view.getUint32(listsAt - 4, true);
  item[LAST_TEXT] = reader.open(bytes, lastAt).characters(bytes.length - lastAt);
  return item;
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
    timestampMs: viewOf(bytes).getFloat64(at + TIMESTAMP_AT, true),
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
    timestampMs: timeMsOf(item.Timestamp),
    categories: item.Categories,
    labels: item.Labels,
  };
}

/** Milliseconds since the epoch, NaN for none. */
function timeMsOf(timestamp: string): number {
  return timestamp === '' ? Number.NaN : parseTimestamp(timestamp);
}

function givenFlag({ LabelsAsGiven }: LabelFields): number {
  return LabelsAsGiven === undefined ? 0 : GIVEN;
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
