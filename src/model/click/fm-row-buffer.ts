import { type Arena, alignedBytes } from '../../memory/arena.ts';
import type { PlacedRows } from './factorization-machine.ts';
import {
  type FeatureBlocks,
  type FeatureLayout,
  featureBlocks,
  type LabelRows,
  labelCount,
  labelValue,
  type SideLabels,
} from './features.ts';

/**
 * Rows of features that are made, used and made again, so that a training of any length takes the same memory. A row
 * is a user and an item; see `features.ts` for its features.
 */
export class FmRowBuffer {
  readonly scores: Float32Array<SharedArrayBuffer>;
  readonly targets: Float32Array<SharedArrayBuffer>;
  rowCount = 0;
  readonly #layout: FeatureLayout;
  readonly #blocks: FeatureBlocks;
  readonly #labels: SideLabels;
  readonly #offsets: Omit<PlacedRows, 'firstRow' | 'endRow'>;
  readonly #starts: Uint32Array;
  readonly #features: Uint32Array;
  readonly #values: Float32Array;
  #used = 0;

  static bytes(rows: number, entries: number): number {
    const sizes = [rows + 1, entries, entries, rows, rows];
    return sizes.reduce((sum, size) => sum + alignedBytes(size * 4), 0);
  }

  /** @param entries features that it holds; at least those of the longest row */
  constructor(arena: Arena, rows: number, entries: number, layout: FeatureLayout, labels: SideLabels) {
    this.#layout = layout;
    this.#blocks = featureBlocks(layout);
    this.#labels = labels;
    const [starts, features, values, targets, outScores] = [rows + 1, entries, entries, rows, rows].map(
      (size) => arena.alloc(size * 4),
    ) as [number, number, number, number, number];
    this.#offsets = { starts, features, values, targets, outScores, order: 0 };
    this.#starts = arena.u32(starts, rows + 1);
    this.#features = arena.u32(features, entries);
    this.#values = arena.f32(values, entries);
    this.targets = arena.f32(targets, rows);
    this.scores = arena.f32(outScores, rows);
  }

  clear(): void {
    this.rowCount = 0;
    this.#used = 0;
  }

  /** Adds a row. @returns false when there is no room for it */
  push(userRow: number, itemRow: number, target: number): boolean {
    const { userCount, itemCount } = this.#layout;
    const { user, item } = this.#labels;
    const knowsUser = userRow < userCount;
    const knowsItem = itemRow < itemCount;
    const userLabels = knowsUser ? labelCount(user, userRow) : 0;
    const itemLabels = knowsItem ? labelCount(item, itemRow) : 0;
    const isFull = this.rowCount === this.targets.length;
    if (isFull || this.#used + 2 + userLabels + itemLabels > this.#features.length) return false;
    if (knowsUser) this.#add(userRow, 1);
    if (knowsItem) this.#add(this.#blocks.items + itemRow, 1);
    if (userLabels > 0) this.#addLabels(user, userRow, userLabels, this.#blocks.userLabels);
    if (itemLabels > 0) this.#addLabels(item, itemRow, itemLabels, this.#blocks.itemLabels);
    this.targets[this.rowCount++] = target;
    this.#starts[this.rowCount] = this.#used;
    return true;
  }

  /** The rows added since `clear`, for the machine in the same memory. */
  get placed(): PlacedRows {
    return { ...this.#offsets, firstRow: 0, endRow: this.rowCount };
  }

  #add(feature: number, value: number): void {
    this.#features[this.#used] = feature;
    this.#values[this.#used++] = value;
  }

  #addLabels({ starts, labels }: LabelRows, row: number, count: number, firstFeature: number): void {
    const value = labelValue(count);
    for (let at = starts[row]!; at < starts[row + 1]!; at++) this.#add(firstFeature + labels[at]!, value);
  }
}
