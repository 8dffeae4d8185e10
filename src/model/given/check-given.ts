import { FurzeError } from '../../domain/furze-error.ts';
import { groupDigits } from '../../domain/group-digits.ts';
import type { FoldSettings, GivenModel, GivenSide } from '../part/given-model.ts';

/** Longest vector of a model: one user is folded in by so many numbers squared. */
const FACTORS_MAX = 1024;
/** Times the median length of items' vectors that the longest may have: a longer one would stand first in every list. */
const LENGTH_RATIO_MAX = 1000;
/** Share of the items that must be known: of fewer the ids are those of other data. */
const KNOWN_SHARE_MIN = 0.5;

/** Ids and vectors as they came. */
export interface GivenRows {
  readonly ids: readonly string[];
  readonly vectors: readonly ArrayLike<number>[];
}

/** The same of both sides. */
export interface GivenFile {
  readonly items: GivenRows;
  readonly users: GivenRows;
}

/** As it was asked for. */
export interface AskedFold extends Pick<FoldSettings, 'fold'> {
  /** In the units of the file; a tenth of the items' mean squared length when absent. */
  readonly regularization?: number | undefined;
  /** Weight of a pair without feedback beside one with feedback; our own model's when absent. */
  readonly unobservedWeight?: number | undefined;
}

/** Facts of a file, in the words of the API. */
export interface GivenFacts {
  readonly Dimensions: number;
  readonly Items: number;
  /** Items of the file that the store does not have. */
  readonly UnknownItems: number;
  readonly Users: number;
  readonly UnknownUsers: number;
  /** Items whose vector is zeros, of which nothing is said. */
  readonly ZeroItems: number;
}

/** Tells whether the store has an id. */
export interface KnownIds {
  item(id: string): boolean;
  user(id: string): boolean;
}

/** Weight of what a user has not liked where none is given: as for the published settings of iALS; see `sizedSettings`. */
const UNOBSERVED_WEIGHT = 0.1;
const UNOBSERVED_MAX = 1000;
const REGULARIZATION = 0.1;

/**
 * Checks a file and makes a model of it.
 * @throws FurzeError INVALID_BODY with what is wrong and where
 */
export function checkGiven(
  { items, users }: GivenFile,
  { fold, regularization, unobservedWeight }: AskedFold,
  known: KnownIds,
): { readonly model: GivenModel; readonly facts: GivenFacts } {
  const dimensions = items.vectors[0]?.length ?? 0;
  if (dimensions === 0) throw refuse('has no items with vectors');
  if (dimensions > FACTORS_MAX)
    throw refuse(`has vectors of ${groupDigits(dimensions)} numbers, and there may be ${FACTORS_MAX}`);
  const squares = checkSide('item', items, dimensions);
  checkSide('user', users, dimensions);
  const mean = squares.reduce((sum, square) => sum + square, 0) / squares.length;
  if (mean === 0) throw refuse('has zeros alone');
  checkLengths(items, squares);
  const scale = 1 / Math.sqrt(mean);
  const model = {
    dimensions,
    fold,
    regularization: (regularization ?? REGULARIZATION * mean) * scale * scale,
    unobservedWeight: unobservedWeight ?? Math.min(UNOBSERVED_WEIGHT, UNOBSERVED_MAX / squares.length),
    items: side(items, dimensions, scale),
    // So that products with items stay what they were.
    users: side(users, dimensions, fold === 'mean' ? lengthOne(users) : 1 / scale),
    fingerprint: 0,
  };
  const facts = {
    Dimensions: dimensions,
    Items: items.ids.length,
    UnknownItems: checkKnown('items', items.ids, known.item),
    Users: users.ids.length,
    UnknownUsers: users.ids.length === 0 ? 0 : checkKnown('users', users.ids, known.user),
    ZeroItems: squares.filter((square) => square === 0).length,
  };
  return { model, facts };
}

/** @returns the squared length of each vector */
function checkSide(what: 'item' | 'user', { ids, vectors }: GivenRows, dimensions: number): Float64Array {
  if (ids.length !== vectors.length)
    throw refuse(
      `has ${groupDigits(ids.length)} ids of ${what}s and ${groupDigits(vectors.length)} vectors of them`,
    );
  const seen = new Set<string>();
  return Float64Array.from(vectors, (vector, row) => {
    const id = ids[row]!;
    const where = `at ${what} ${JSON.stringify(id.slice(0, 100))} (row ${groupDigits(row + 1)})`;
    if (seen.has(id)) throw refuse(`has an id twice ${where}`);
    seen.add(id);
    if (vector.length !== dimensions)
      throw refuse(`has ${vector.length} numbers ${where}, and ${dimensions} at the first item`);
    let square = 0;
    for (let at = 0; at < dimensions; at++) {
      const number = vector[at]!;
      // Also what is no number at all.
      if (!Number.isFinite(Math.fround(number))) throw refuse(`has a number that is not finite ${where}`);
      square += number * number;
    }
    return square;
  });
}

function checkLengths({ ids }: GivenRows, squares: Float64Array): void {
  const lengths = squares.filter((square) => square > 0).sort();
  const median = Math.sqrt(lengths[lengths.length >>> 1]!);
  const longest = Math.sqrt(lengths.at(-1)!);
  if (longest <= LENGTH_RATIO_MAX * median) return;
  const id = ids[squares.indexOf(lengths.at(-1)!)]!;
  throw refuse(
    `has a vector ${groupDigits(Math.round(longest / median))} times as long as the median at item ` +
      `${JSON.stringify(id)}, which would stand first in every list; there may be ${groupDigits(LENGTH_RATIO_MAX)}`,
  );
}

/** @returns how many are unknown */
function checkKnown(what: string, ids: readonly string[], isKnown: (id: string) => boolean): number {
  const unknown = ids.filter((id) => !isKnown(id));
  if (ids.length - unknown.length >= KNOWN_SHARE_MIN * ids.length) return unknown.length;
  throw refuse(
    `has ids of other data: ${groupDigits(unknown.length)} of its ${groupDigits(ids.length)} ${what} are not there, ` +
      `${JSON.stringify(unknown[0])} the first of them`,
  );
}

function side({ ids, vectors }: GivenRows, dimensions: number, scale: number): GivenSide {
  const factors = new Float32Array(vectors.length * dimensions);
  let to = 0;
  for (const vector of vectors) for (let at = 0; at < dimensions; at++) factors[to++] = vector[at]! * scale;
  return { ids: new TextEncoder().encode(JSON.stringify(ids)), factors };
}

/** The factor that brings the vectors to a root mean square length of 1. */
function lengthOne({ vectors }: GivenRows): number {
  let squares = 0;
  for (const vector of vectors) for (let at = 0; at < vector.length; at++) squares += vector[at]! ** 2;
  return squares === 0 ? 1 : Math.sqrt(vectors.length / squares);
}

function refuse(what: string): FurzeError {
  return new FurzeError('INVALID_BODY', `The model ${what}.`, [{ path: '', message: what }]);
}
