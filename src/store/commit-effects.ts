import { decode, encode } from '@msgpack/msgpack';
import type { Item, User } from '../domain/entities.ts';
import type { Journal } from './journals.ts';
import { decodeOccurrences, encodeOccurrences, type Occurrences, type StoredFeedback } from './repeats.ts';

/**
 * Effects of one command, or of several that only add, on a store, by rows: a replica that carries these out in their order holds
 * the same. Deletions come before everything else. What is said twice is carried out twice to the same end.
 */
export interface Effects {
  readonly deletedUserIds: readonly string[];
  /** Rows of these, in their order. */
  readonly deletedUserRows?: readonly number[];
  readonly deletedItemIds: readonly string[];
  /** Users and items as they are now, with their rows. */
  readonly users: readonly (readonly [userRow: number, user: User])[];
  readonly items: readonly (readonly [itemRow: number, item: Item])[];
  /** With what goes along with deleted users and items. */
  readonly feedback: readonly FeedbackEffect[];
  /** True where more went along with a deletion than stands in `feedback`. */
  readonly isIncomplete?: boolean;
  /** Journals as they are now, with their names. */
  readonly journals: readonly (readonly [name: string, journal: Journal])[];
}

/** A feedback that is written, or removed where `timeMs` is NaN. */
export interface FeedbackEffect extends StoredFeedback {
  readonly userRow: number;
  readonly itemRow: number;
  readonly type: string;
  /** The same before, for who does not keep it; undefined where there was none. */
  readonly before?: Before | undefined;
}

/** A feedback as far as it is counted. */
export type Before = Omit<StoredFeedback, 'comment'>;

/** A moment in the history of a store: what it was after a commit. */
export interface Point {
  /** The commit's number; each is one more than that of the one before. */
  readonly position: number;
  /** A random number that the commit was given: two with the same position are the same only if their marks are. */
  readonly mark: number;
}

/** Effects of one transaction. */
export interface Commit extends Point {
  /** Mark of the commit before. */
  readonly markBefore: number;
  readonly parts: readonly Effects[];
}

/** Point of a copy that is not whole, or not to be followed with: no commit comes after it. */
export const NOT_WHOLE: Point = { position: -1, mark: 0 };

/** A part as it is packed: columns of fixed width as bytes, and the few comments and values beside their positions. */
type Packed = [
  deletedUserIds: readonly string[],
  deletedItemIds: readonly string[],
  users: Effects['users'],
  items: Effects['items'],
  typeNames: readonly string[],
  rows: Uint8Array,
  types: Uint8Array,
  timesMs: Uint8Array,
  comments: readonly (readonly [at: number, comment: string])[],
  values: readonly (readonly [at: number, value: number])[],
  occurrences: readonly (readonly [at: number, bytes: Uint8Array])[],
  before: readonly PackedBefore[],
  isIncomplete: boolean,
  deletedUserRows: readonly number[],
  journals: Effects['journals'],
];
type PackedBefore = readonly [at: number, timeMs: number, value: number, occurrences: Uint8Array | null];

export function encodeParts(parts: readonly Effects[]): Uint8Array {
  return encode(parts.map(pack), { ignoreUndefined: true });
}

/** @param bytes what `encodeParts` made */
export function decodeParts(bytes: Uint8Array): Effects[] {
  return (decode(bytes) as Packed[]).map(unpack);
}

function pack(effects: Effects): Packed {
  const { deletedUserIds, deletedItemIds, users, items, feedback, journals } = effects;
  const { isIncomplete = false, deletedUserRows = [] } = effects;
  const names: string[] = [];
  const numbers = new Map<string, number>();
  const rows = new Uint32Array(feedback.length * 2);
  const types = new Uint16Array(feedback.length);
  const timesMs = new Float64Array(feedback.length);
  const comments: [number, string][] = [];
  const values: [number, number][] = [];
  const repeats: [number, Uint8Array][] = [];
  const befores: PackedBefore[] = [];
  for (const [at, effect] of feedback.entries()) {
    const { userRow, itemRow, type, timeMs, comment, value, occurrences, before } = effect;
    let number = numbers.get(type);
    if (number === undefined) numbers.set(type, (number = names.push(type) - 1));
    rows[at * 2] = userRow;
    rows[at * 2 + 1] = itemRow;
    types[at] = number;
    timesMs[at] = timeMs;
    if (comment !== '') comments.push([at, comment]);
    if (value !== 0) values.push([at, value]);
    if (occurrences !== undefined) repeats.push([at, encodeOccurrences(occurrences)]);
    if (before === undefined) continue;
    const events = before.occurrences && encodeOccurrences(before.occurrences);
    befores.push([at, before.timeMs, before.value, events ?? null]);
  }
  const columns = [bytesOf(rows), bytesOf(types), bytesOf(timesMs)] as const;
  const notes = [comments, values, repeats, befores, isIncomplete, deletedUserRows, journals] as const;
  return [deletedUserIds, deletedItemIds, users, items, names, ...columns, ...notes];
}

function unpack(packed: Packed): Effects {
  const [deletedUserIds, deletedItemIds, users, items, names, rowBytes, typeBytes, timeBytes] = packed;
  const rows = new Uint32Array(ownBuffer(rowBytes));
  const types = new Uint16Array(ownBuffer(typeBytes));
  const timesMs = new Float64Array(ownBuffer(timeBytes));
  const comments = new Map(packed[8]);
  const values = new Map(packed[9]);
  const repeats = new Map(packed[10]);
  const befores = new Map(packed[11].map((before) => [before[0], before]));
  const feedback: FeedbackEffect[] = new Array(types.length);
  // All of one form, with nothing looked up where there is nothing: most have neither notes nor a past.
  for (let at = 0; at < types.length; at++)
    feedback[at] = {
      userRow: rows[at * 2]!,
      itemRow: rows[at * 2 + 1]!,
      type: names[types[at]!]!,
      timeMs: timesMs[at]!,
      comment: comments.size > 0 ? (comments.get(at) ?? '') : '',
      value: values.size > 0 ? (values.get(at) ?? 0) : 0,
      occurrences: repeats.size > 0 ? unpackOccurrences(repeats.get(at)) : undefined,
      before: befores.size > 0 ? unpackBefore(befores.get(at)) : undefined,
    };
  const [isIncomplete, deletedUserRows, journals] = [packed[12], packed[13], packed[14]];
  const entities = { deletedUserIds, deletedUserRows, deletedItemIds, users, items };
  return { ...entities, feedback, isIncomplete, journals };
}

function unpackOccurrences(bytes: Uint8Array | null | undefined): Occurrences | undefined {
  return bytes ? decodeOccurrences(bytes) : undefined;
}

function unpackBefore(packed: PackedBefore | undefined): Before | undefined {
  if (packed === undefined) return undefined;
  const [, timeMs, value, events] = packed;
  return { timeMs, value, occurrences: unpackOccurrences(events) };
}

function bytesOf(array: Uint32Array | Uint16Array | Float64Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** The bytes at the start of a buffer of their own, so that they can be read as words. */
function ownBuffer(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
