/** Reads a public data set from a folder and splits it as its format has it. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  buildInteractions,
  type CompressedMatrix,
  type Interactions,
} from '../../src/dataset/interactions.ts';
import { createRandom } from '../../src/domain/random.ts';
import { splitByTime } from '../../src/evaluate/hold-out-protocol.ts';
import { type FeatureRows, parseLibfm } from '../data-sets/libfm.ts';
import { parseLightgcn } from '../data-sets/lightgcn.ts';
import { type NegativeCase, type PairColumns, parseNcfNegatives, parseNcfRatings } from '../data-sets/ncf.ts';
import { parseRatings } from '../data-sets/ratings.ts';
import { pick, splitLeaveLastOut } from './leave-last-out.ts';

export const FORMATS = ['ncf', 'lightgcn', 'libfm', 'movielens', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

/** A set for ranking: what is learned from, and what was held out, in one of two protocols. */
export interface RankingSet {
  readonly kind: 'ranking';
  readonly train: Interactions;
  /** Held-out items of each user; empty under the sampled protocol. */
  readonly test: CompressedMatrix;
  /** Held-out items with the negatives that they compete with; empty under the full protocol. */
  readonly cases: readonly NegativeCase[];
  /** Part of the training records, the latest of each user, for choosing settings without looking at the test. */
  readonly validation: { readonly train: Interactions; readonly test: CompressedMatrix };
}

/** A set for click-through prediction. */
export interface FeatureSet {
  readonly kind: 'features';
  readonly train: FeatureRows;
  readonly validation: FeatureRows | null;
  readonly test: FeatureRows;
}

/** Split of files with ratings and times, and the ratings that count. */
export interface LoadOptions {
  /** The lowest rating that is positive; every record when absent. */
  readonly positive: number | undefined;
  readonly split: 'temporal' | 'last';
  /** Share of the records held out by a temporal split. */
  readonly share: number;
}

/** @throws Error when the folder lacks a file that the format needs, FurzeError when a file is not in its format */
export function loadSet(format: Format, folder: string, options: LoadOptions): RankingSet | FeatureSet {
  switch (format) {
    case 'ncf':
      return loadNcf(folder);
    case 'lightgcn':
      return loadLightgcn(folder);
    case 'libfm':
      return loadLibfm(folder);
    case 'movielens':
      return loadRatings(folder, RATING_FILES.movielens, options);
    case 'csv':
      return loadRatings(folder, RATING_FILES.csv, options);
  }
}

/** The file of a set that holds its ratings; a `csv` set may have files about users and items beside it. */
export const RATING_FILES = {
  movielens: /^(ratings\.(dat|csv)|u\.data)(\.gz)?$/,
  csv: /^(?!(?:items|users|customers)\.).*\.(csv|tsv)(\.gz)?$/,
} as const;

/**
 * Reads the one file of a folder whose name fits. Where a folder holds several sets, the beginning of the names wanted
 * may stand behind it: `Data/ml-1m` reads `Data/ml-1m.train.rating`.
 * @throws Error unless exactly one file of the folder has a name like `pattern`
 */
export function readText(place: string, pattern: RegExp): string {
  const isFolder = existsSync(place) && statSync(place).isDirectory();
  const folder = isFolder ? place : dirname(place);
  const prefix = isFolder ? '' : basename(place);
  const names = readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && pattern.test(name))
    .sort();
  if (names.length !== 1) {
    const found = names.length === 0 ? 'there is none' : `there are ${names.join(', ')}`;
    throw new Error(`${place} must hold one file ${describePattern(pattern)}; ${found}`);
  }
  const bytes = readFileSync(join(folder, names[0]!));
  return (names[0]!.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}

function loadNcf(folder: string): RankingSet {
  const train = parseNcfRatings(readText(folder, /\.train\.rating$/));
  const cases = parseNcfNegatives(readText(folder, /\.test\.negative$/));
  const userCount = 1 + Math.max(highest(train.userRows), highest(cases.map((one) => one.userRow)));
  const rows = cases.map((one) => Math.max(one.itemRow, highest(one.negativeRows)));
  const itemCount = 1 + Math.max(highest(train.itemRows), highest(rows));
  const test = { userRows: [], itemRows: [] };
  // Records of a training file stand in order of time within a user.
  const order = train.userRows.map((_, at) => at);
  return rankingSet(train, test, order, { userCount, itemCount }, cases);
}

function loadLightgcn(folder: string): RankingSet {
  const train = parseLightgcn(readText(folder, /^train\.txt$/));
  const test = parseLightgcn(readText(folder, /^test\.txt$/));
  const userCount = 1 + Math.max(highest(train.userRows), highest(test.userRows));
  const itemCount = 1 + Math.max(highest(train.itemRows), highest(test.itemRows));
  // These files say nothing of time: any entry of a user will do, a scattered one says most.
  const scatter = train.userRows.map((_, at) => Math.imul(at + 1, 0x9e3779b1) >>> 0);
  return rankingSet(train, test, scatter, { userCount, itemCount }, []);
}

function loadLibfm(folder: string): FeatureSet {
  const train = parseLibfm(readText(folder, /train\.libfm$/));
  const test = parseLibfm(readText(folder, /test\.libfm$/));
  const hasValidation = readdirSync(folder).some((name) => /valid(ation)?\.libfm$/.test(name));
  const validation = hasValidation ? parseLibfm(readText(folder, /valid(ation)?\.libfm$/)) : null;
  return { kind: 'features', train, validation, test };
}

/** Share of the training rows that say when to stop, where the set has no file of its own for that. */
const VALIDATION_SHARE = 0.1;

/** The set's own validation rows, or else a random tenth of its training rows, which are then no longer trained on. */
export function withValidation(
  { train, validation }: FeatureSet,
  seed: number,
): { readonly train: FeatureRows; readonly validation: FeatureRows } {
  if (validation !== null) return { train, validation };
  const random = createRandom(seed);
  const isHeld = Uint8Array.from(train.targets, () => (random.float() < VALIDATION_SHARE ? 1 : 0));
  return {
    train: chooseRows(train, (row) => isHeld[row] === 0),
    validation: chooseRows(train, (row) => isHeld[row] === 1),
  };
}

function chooseRows(rows: FeatureRows, isChosen: (row: number) => boolean): FeatureRows {
  const starts = [0];
  const features: number[] = [];
  const values: number[] = [];
  const targets: number[] = [];
  for (let row = 0; row < rows.targets.length; row++) {
    if (!isChosen(row)) continue;
    for (let at = rows.starts[row]!; at < rows.starts[row + 1]!; at++) {
      features.push(rows.features[at]!);
      values.push(rows.values[at]!);
    }
    targets.push(rows.targets[row]!);
    starts.push(features.length);
  }
  return {
    targets: Float32Array.from(targets),
    starts: Uint32Array.from(starts),
    features: Uint32Array.from(features),
    values: Float32Array.from(values),
    featureCount: rows.featureCount,
  };
}

function loadRatings(folder: string, pattern: RegExp, options: LoadOptions): RankingSet {
  const records = parseRatings(readText(folder, pattern));
  const { positive } = options;
  const all = records.ratings.map((_, at) => at);
  const kept = positive === undefined ? all : all.filter((at) => records.ratings[at]! >= positive);
  const userRows = pick(records.userRows, kept);
  const itemRows = pick(records.itemRows, kept);
  const times = pick(records.times, kept);
  const split =
    options.split === 'last' ? splitLeaveLastOut(userRows, times) : splitByTime(times, options.share);
  const side = (at: Uint32Array) => ({ userRows: pick(userRows, at), itemRows: pick(itemRows, at) });
  const shape = { userCount: records.userIds.length, itemCount: records.itemIds.length };
  const train = side(split.train);
  const inTraining = { users: new Set(train.userRows), items: new Set(train.itemRows) };
  const seen = new Set(train.userRows.map((user, at) => user * shape.itemCount + train.itemRows[at]!));
  // Who or what the training has never met is the task of other recommenders; a repeat is no discovery.
  const test = side(
    split.test.filter(
      (at) =>
        inTraining.users.has(userRows[at]!) &&
        inTraining.items.has(itemRows[at]!) &&
        !seen.has(userRows[at]! * shape.itemCount + itemRows[at]!),
    ),
  );
  return rankingSet(train, test, pick(times, split.train), shape, []);
}

function rankingSet(
  train: PairColumns,
  test: PairColumns,
  times: ArrayLike<number>,
  shape: { userCount: number; itemCount: number },
  cases: readonly NegativeCase[],
): RankingSet {
  const inner = splitLeaveLastOut(train.userRows, times);
  const part = (at: Uint32Array) =>
    buildInteractions({ ...shape, userRows: pick(train.userRows, at), itemRows: pick(train.itemRows, at) });
  return {
    kind: 'ranking',
    train: buildInteractions({ ...shape, ...train }),
    test: buildInteractions({ ...shape, ...test }).byUser,
    cases,
    validation: { train: part(inner.train), test: part(inner.test).byUser },
  };
}

function highest(values: ArrayLike<number>): number {
  let most = -1;
  for (let at = 0; at < values.length; at++) most = Math.max(most, values[at]!);
  return most;
}

/** The names that a pattern stands for, as a person writes them. */
export function describePattern(pattern: RegExp): string {
  if (pattern === RATING_FILES.csv)
    return 'of ratings or feedback that ends in .csv or .tsv, packed as .gz or not';
  const plain = pattern.source
    .replace(/^\^/, '')
    .replace(/\$$/, '')
    .replace('(\\.gz)?', '')
    .replaceAll('\\', '');
  const isEnding = plain.startsWith('.') || !pattern.source.startsWith('^');
  return `${isEnding ? 'that ends in' : 'named'} ${plain.replace(/[()]/g, '').replaceAll('|', ' or ').replaceAll('ation?', 'ation')}`;
}
