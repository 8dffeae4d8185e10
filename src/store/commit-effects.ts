import { Decoder, Encoder } from '@msgpack/msgpack';
import type { Item, User } from '../domain/entities.ts';
import type { Journal } from './journals.ts';
import {
  type FeedbackEffects,
  type Packed,
  type PackedBefore,
  PackedFeedback,
  type VectorEffect,
} from './packed-feedback.ts';
import { encodeOccurrences } from './repeats.ts';

export type { FeedbackEffect, VectorEffect } from './packed-feedback.ts';

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
  readonly feedback: FeedbackEffects;
  /** True where more went along with a deletion than stands in `feedback`. */
  readonly isIncomplete?: boolean;
  /** Journals as they are now, with their names. */
  readonly journals: readonly (readonly [name: string, journal: Journal])[];
  readonly vectors?: readonly VectorEffect[];
}

/** A moment in the history of a store: what it was after a commit. */
export interface Point {
  /** The commit's number; each is one more than that of the one before. */
  readonly position: number;
  /** A random number that the commit was given: two with the same position are the same only if their marks are. */
  readonly mark: number;
}

/** Effects as they were committed. */
export interface CommittedEffects extends Effects {
  readonly feedback: PackedFeedback;
}

/** Effects of one transaction. */
export interface Commit extends Point {
  /** Mark of the commit before. */
  readonly markBefore: number;
  readonly parts: readonly CommittedEffects[];
}

/** Point of a copy that is not whole, or not to be followed with: no commit comes after it. */
export const NOT_WHOLE: Point = { position: -1, mark: 0 };

/** Rows from a base on were taken by others in the meantime: those of a commit are so many further on. */
export interface RowShift {
  readonly userBase: number;
  readonly userShift: number;
  readonly itemBase: number;
  readonly itemShift: number;
}

const NO_SHIFT: RowShift = { userBase: 0, userShift: 0, itemBase: 0, itemShift: 0 };

/** Made once: to make one takes longer than a small commit. */
const encoder = new Encoder({ ignoreUndefined: true });
const decoder = new Decoder();

export function encodeParts(parts: readonly Effects[]): Uint8Array {
  return encoder.encode(parts.map(pack));
}

/** @param bytes what `encodeParts` made @param shift of the rows that the commit was given */
export function decodeParts(bytes: Uint8Array, shift = NO_SHIFT): CommittedEffects[] {
  return (decoder.decode(bytes) as Packed[]).map((packed) => unpack(packed, shift));
}

function pack(effects: Effects): Packed {
  const { deletedUserIds, deletedItemIds, users, items, feedback, journals } = effects;
  const { isIncomplete = false, deletedUserRows = [], vectors = [] } = effects;
  const names: string[] = [];
  const numbers = new Map<string, number>();
  const rows = new Uint32Array(feedback.length * 2);
  const types = new Uint16Array(feedback.length);
  const timesMs = new Float64Array(feedback.length);
  const comments: [number, string][] = [];
  const values: [number, number][] = [];
  const repeats: [number, Uint8Array][] = [];
  const befores: PackedBefore[] = [];
  let at = 0;
  for (const { userRow, itemRow, type, timeMs, comment, value, occurrences, before } of feedback) {
    let number = numbers.get(type);
    if (number === undefined) numbers.set(type, (number = names.push(type) - 1));
    rows[at * 2] = userRow;
    rows[at * 2 + 1] = itemRow;
    types[at] = number;
    timesMs[at] = timeMs;
    if (comment !== '') comments.push([at, comment]);
    if (value !== 0) values.push([at, value]);
    if (occurrences !== undefined) repeats.push([at, encodeOccurrences(occurrences)]);
    if (before !== undefined) {
      const events = before.occurrences && encodeOccurrences(before.occurrences);
      befores.push([at, before.timeMs, before.value, events ?? null]);
    }
    at++;
  }
  const columns = [bytesOf(rows), bytesOf(types), bytesOf(timesMs)] as const;
  const notes = [comments, values, repeats, befores, isIncomplete, deletedUserRows, journals] as const;
  return [deletedUserIds, deletedItemIds, users, items, names, ...columns, ...notes, vectors];
}

function unpack(packed: Packed, { userBase, userShift, itemBase, itemShift }: RowShift): CommittedEffects {
  const [deletedUserIds, deletedItemIds] = packed;
  const [isIncomplete, deletedUserRows, journals] = [packed[12], packed[13], packed[14]];
  const userRow = (row: number) => (row >= userBase ? row + userShift : row);
  const itemRow = (row: number) => (row >= itemBase ? row + itemShift : row);
  const feedback = new PackedFeedback(packed);
  const { rows } = feedback;
  for (let at = 0; userShift + itemShift > 0 && at < rows.length; at += 2) {
    rows[at] = userRow(rows[at]!);
    rows[at + 1] = itemRow(rows[at + 1]!);
  }
  const users = packed[2].map(([row, user]) => [userRow(row), user] as const);
  const items = packed[3].map(([row, item]) => [itemRow(row), item] as const);
  const gone = {
    deletedUserIds,
    deletedUserRows: deletedUserRows.map(userRow),
    deletedItemIds,
    isIncomplete,
  };
  const vectors = packed[15].map(([row, space, numbers]) => [itemRow(row), space, numbers] as const);
  return { ...gone, users, items, feedback, journals, vectors };
}

function bytesOf(array: Uint32Array | Uint16Array | Float64Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
