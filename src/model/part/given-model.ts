/** A model of another tool as data, and its form as bytes. */
import { sharedF32 } from '../../memory/shared-arrays.ts';
import { decodeNested, encodeNested, type FrameKind } from './model-bytes-and-checksum.ts';

/** "FRZG". */
const KIND: FrameKind = { magic: 0x475a5246, version: 2, name: 'given model' };

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
  return encodeNested(KIND, { ...header, items: packed(items), users: packed(users) });
}

/**
 * Reads what `encodeGiven` wrote into shared memory.
 * @throws FurzeError INTERNAL when the bytes are no such model, of another version, cut short or damaged
 */
export function decodeGiven(bytes: Uint8Array): GivenModel {
  const { items, users, ...header } = decodeNested(KIND, bytes) as Omit<GivenModel, 'items' | 'users'> &
    Record<'items' | 'users', PackedSide>;
  return { ...header, items: unpacked(items), users: unpacked(users) };
}

/** A side whose ids are padded to whole words. */
interface PackedSide {
  readonly factors: Float32Array;
  readonly ids: Uint32Array;
  readonly idBytes: number;
}

function packed({ ids, factors }: GivenSide): PackedSide {
  const words = new Uint32Array(Math.ceil(ids.length / 4));
  new Uint8Array(words.buffer).set(ids);
  return { factors, ids: words, idBytes: ids.length };
}

function unpacked({ factors, ids, idBytes }: PackedSide): GivenSide {
  const shared = { factors: sharedF32(factors.length), ids: new Uint8Array(new SharedArrayBuffer(idBytes)) };
  shared.factors.set(factors);
  shared.ids.set(new Uint8Array(ids.buffer, ids.byteOffset, idBytes));
  return shared;
}
