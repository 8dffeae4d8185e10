/**
 * The features of a user and an item: which user, which item, the user's labels, the item's labels. A user, an item
 * or a label that the layout does not know has none. The labels of one side share a length of 1: each of n has the
 * value 1 / sqrt(n), so that a well-described item does not outweigh the others.
 */

import type { LabelsOf } from '../../dataset/training-data.ts';
import { grown } from '../../memory/growing-u32.ts';

/** Meaning of the features; rows and names are numbered from 0 in each block. */
export interface FeatureLayout {
  readonly userCount: number;
  readonly itemCount: number;
  /** Distinct names, most frequent first. */
  readonly userLabels: readonly string[];
  readonly itemLabels: readonly string[];
}

/** First feature of each block; that of the users is 0. */
export interface FeatureBlocks {
  readonly items: number;
  readonly userLabels: number;
  readonly itemLabels: number;
  readonly featureCount: number;
}

/** Users, items, labels of users, labels of items, in this order. */
export function featureBlocks(layout: FeatureLayout): FeatureBlocks {
  const items = layout.userCount;
  const userLabels = items + layout.itemCount;
  const itemLabels = userLabels + layout.userLabels.length;
  return { items, userLabels, itemLabels, featureCount: itemLabels + layout.itemLabels.length };
}

/** The value of each of `count` labels of one side. */
export function labelValue(count: number): number {
  return Math.fround(1 / Math.sqrt(count));
}

/** Names of labels beyond this many are dropped, the rarest first. */
const LABELS_MAX = 100_000;
/** A label of one user or item says nothing that the one-hot feature does not. */
const OCCURRENCES_MIN = 2;
/** Rows whose labels are read between two yields. */
const SLICE_ROWS = 4096;

/**
 * The names of labels that at least two rows share, the most frequent first, ties by name. Counts are kept for at most
 * 4 * `most` names at a time: when more turn up, the rarest are forgotten (lossy counting, Manku and Motwani 2002).
 * @param rows how many rows to look at
 */
export function* collectLabels(
  rows: number,
  labelsOf: LabelsOf,
  most = LABELS_MAX,
): Generator<void, string[]> {
  const counts = new Map<string, number>();
  for (let row = 0; row < rows; row++) {
    for (const name of new Set(labelsOf(row))) counts.set(name, (counts.get(name) ?? 0) + 1);
    for (let rare = 1; counts.size > 4 * most; rare++) {
      for (const [name, count] of counts) if (count <= rare) counts.delete(name);
    }
    if (row % SLICE_ROWS === SLICE_ROWS - 1) yield;
  }
  const kept = [...counts].filter(([, count]) => count >= OCCURRENCES_MIN);
  kept.sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1));
  return kept.slice(0, most).map(([name]) => name);
}

/** The numbers of the known labels of each row, distinct: those of row r are `labels[starts[r]] .. labels[starts[r + 1] - 1]`. */
export interface LabelRows {
  readonly starts: Uint32Array;
  readonly labels: Uint32Array;
}

/** Looks up the labels of the rows [0, rows) among `names`; 4 bytes a row and a known label. */
export function* labelRows(
  rows: number,
  labelsOf: LabelsOf,
  names: readonly string[],
): Generator<void, LabelRows> {
  const starts = new Uint32Array(rows + 1);
  if (names.length === 0) return { starts, labels: new Uint32Array(0) };
  const numbers = new Map(names.map((name, number) => [name, number]));
  let labels = new Uint32Array(Math.max(16, rows));
  let used = 0;
  for (let row = 0; row < rows; row++) {
    for (const name of new Set(labelsOf(row))) {
      const number = numbers.get(name);
      if (number === undefined) continue;
      if (used === labels.length) labels = grown(labels, used + 1);
      labels[used++] = number;
    }
    starts[row + 1] = used;
    if (row % SLICE_ROWS === SLICE_ROWS - 1) yield;
  }
  return { starts, labels: labels.slice(0, used) };
}

/** The labels that one row has among those known. */
export function labelCount({ starts }: LabelRows, row: number): number {
  return starts[row + 1]! - starts[row]!;
}

/** The labels of all users and items, as numbers of the layout. */
export interface SideLabels {
  readonly user: LabelRows;
  readonly item: LabelRows;
}

/** The most labels that a row has on both sides together. */
export function mostLabels({ user, item }: SideLabels): number {
  return longest(user) + longest(item);
}

function longest(rows: LabelRows): number {
  let most = 0;
  for (let row = 0; row + 1 < rows.starts.length; row++) most = Math.max(most, labelCount(rows, row));
  return most;
}

/** Upper bound of the label names that `collectLabels` keeps of the rows [0, rows). */
export function distinctLabels(rows: number, labelsOf: LabelsOf): number {
  const names = new Set<string>();
  for (let row = 0; row < rows && names.size < LABELS_MAX; row++) {
    for (const name of labelsOf(row)) names.add(name);
  }
  return Math.min(LABELS_MAX, names.size);
}
