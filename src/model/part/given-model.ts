/** A model of another tool as data, and its form as bytes. */
import { sharedF32 } from '../../memory/shared-arrays.ts';
import { decodeFrame, encodeFrame, type FrameKind, refuseModel } from './model-bytes-and-checksum.ts';

/** "FRZG". */
const KIND: FrameKind = { magic: 0x475a5246, version: 1, name: 'given model', coversDescription: true };

/**
 * Ways to make a user of what the user likes: by regularized least squares against the items (Hu, Koren and Volinsky 2008), or
 * as the mean of these items' vectors, of which one counts half after ten later ones.
 */
export const FOLDS = ['least-squares', 'mean'] as const;
export type Fold = (typeof FOLDS)[number];

/** The way in which users are folded in; the numbers are those of a penalty of least squares. */
export interface FoldSettings {
  readonly fold: Fold;
  readonly regularization: number;
  readonly unobservedWeight: number;
}

/** Ids and their vectors, one behind the other. Both may be in shared memory. */
export interface GivenSide {
  /** A JSON array in UTF-8, so that no thread but one that looks ids up makes strings of them. */
  readonly ids: Uint8Array;
  readonly factors: Float32Array;
}

/** The items' factors have a root mean square length of 1. */
export interface GivenModel extends FoldSettings {
  readonly dimensions: number;
  readonly items: GivenSide;
  /** Users whose vectors are taken as they are; empty for none. */
  readonly users: GivenSide;
  /** Of the data that it was judged on; 0 before it was. */
  readonly fingerprint: number;
}

export function idsOf({ ids }: GivenSide): readonly string[] {
  // Text of shared memory is read from a copy alone.
  return JSON.parse(new TextDecoder().decode(ids.slice())) as string[];
}

export function givenBytes({ items, users }: GivenModel): number {
  return [items, users].reduce((sum, { ids, factors }) => sum + ids.byteLength + factors.byteLength, 0);
}

export function encodeGiven({ items, users, ...header }: GivenModel): Uint8Array {
  const lengths = [items, users].map(({ ids, factors }) => [ids.length, factors.length]);
  return encodeFrame(KIND, { ...header, lengths }, [
    items.factors,
    users.factors,
    words(items.ids),
    words(users.ids),
  ]);
}

/**
 * Reads what `encodeGiven` wrote into shared memory.
 * @throws FurzeError INTERNAL when the bytes are no such model, of another version, cut short or damaged
 */
export function decodeGiven(bytes: Uint8Array): GivenModel {
  const { description, floats } = decodeFrame(KIND, bytes);
  const { lengths, ...header } = description as Omit<GivenModel, 'items' | 'users'> & {
    readonly lengths: readonly (readonly [number, number])[];
  };
  const [[itemIds, items], [userIds, users]] = lengths as [[number, number], [number, number]];
  if (floats.length !== items + users + wordsIn(itemIds) + wordsIn(userIds))
    refuseModel(KIND, 'its size does not fit its shape');
  const factors = (from: number, length: number) => {
    const copy = sharedF32(length);
    copy.set(floats.subarray(from, from + length));
    return copy;
  };
  const texts = (from: number, length: number) => {
    const copy = new Uint8Array(new SharedArrayBuffer(length));
    copy.set(new Uint8Array(floats.buffer, floats.byteOffset + 4 * from, length));
    return copy;
  };
  const ids = items + users;
  return {
    ...header,
    items: { factors: factors(0, items), ids: texts(ids, itemIds) },
    users: { factors: factors(items, users), ids: texts(ids + wordsIn(itemIds), userIds) },
  };
}

function wordsIn(bytes: number): number {
  return Math.ceil(bytes / 4);
}

function words(bytes: Uint8Array): Uint32Array {
  const padded = new Uint32Array(wordsIn(bytes.length));
  new Uint8Array(padded.buffer).set(bytes);
  return padded;
}
