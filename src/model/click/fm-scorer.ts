/**
 * A click-through model placed in shared memory and ready to answer. The items' halves (see `FmSides`) are worked
 * out once, so a user's candidates cost one inner product each.
 */
import type { LabelsOf } from '../../dataset/training-data.ts';
import type { Kernels } from '../../kernel/kernels.ts';
import { paddedFactors } from '../../kernel/scratch-sizes.ts';
import { placeOf } from '../../memory/binary-search.ts';
import { type ArrayPlan, type MemoryLayout, placeArrays, rowOf, viewOf } from '../../memory/memory-layout.ts';
import type { AllocateMemory } from '../../memory/reuse-memory.ts';
import { sigmoid } from './calibration.ts';
import { featureBlocks, labelValue } from './features.ts';
import { fillLabelTable, LabelTable, labelTablePlans } from './label-table.ts';
import { assertSound, type FmModel, type FmSummary } from './model.ts';
import { CLICK_DEFAULTS } from './settings.ts';

const CANDIDATES = 1024;

/** All that a thread needs to open a scorer; plain data but for the memory, which is shared. */
export interface PlacedFm {
  readonly memory: WebAssembly.Memory;
  readonly layout: MemoryLayout;
  readonly header: FmSummary;
  readonly slots: number;
}

function arrayPlans(model: FmModel, slots: number): ArrayPlan[] {
  const { userCount, userLabels, itemLabels, factors } = model;
  const width = rowWidth(factors);
  return [
    ['users', 'f32', [userCount, width]],
    ['userRows', 'u32', [model.rows?.users.length ?? 0]],
    ['itemSides', 'f32', [servedItemCount(model), width]],
    ['userLabels', 'f32', [userLabels.length, width]],
    ['itemLabels', 'f32', [itemLabels.length, width]],
    ['query', 'f32', [slots, width]],
    ['candidates', 'u32', [slots, CANDIDATES]],
    ['scores', 'f32', [slots, CANDIDATES]],
    ...labelTablePlans('userNames', userLabels),
    ...labelTablePlans('itemNames', itemLabels),
  ];
}

/** Items by which the model will be asked. */
function servedItemCount({ rows, itemCount }: FmModel): number {
  return rows?.itemRowCount ?? itemCount;
}

/** Bytes per label of a table of names, at the most usual length. */
const NAME_BYTES = 64;

/** Bytes of a placed model of so many features, of the one that it replaces, and of the copies made to save it. */
export function clickModelsBytes(
  counts: {
    readonly users: number;
    readonly items: number;
    readonly labels: number;
    readonly itemRows: number;
  },
  slots: number,
): number {
  const { factors } = CLICK_DEFAULTS;
  const features = counts.users + counts.items + counts.labels;
  const placedRows = counts.users + counts.itemRows + counts.labels;
  const placed =
    placedRows * rowWidth(factors) * 4 +
    counts.users * 4 +
    slots * CANDIDATES * 8 +
    counts.labels * NAME_BYTES;
  return 2 * placed + 2 * features * (2 + paddedFactors(factors)) * 4;
}

/**
 * Places a model in a new shared memory, with the half of every item that it knows.
 * @param itemLabelsOf the labels of the model's items
 * @param slots threads that may open a scorer, at least 1
 * @throws FurzeError INTERNAL when the parameters do not fit the model's shape or are not finite
 */
export function placeFm(
  model: FmModel,
  itemLabelsOf: LabelsOf,
  slots = 1,
  allocate?: AllocateMemory,
): PlacedFm {
  assertSound(model);
  const { linear, vectors, userLabels, itemLabels, rows, ...header } = model;
  const { memory, layout } = placeArrays(arrayPlans(model, slots), allocate);
  fillLabelTable(memory, layout, 'userNames', userLabels);
  fillLabelTable(memory, layout, 'itemNames', itemLabels);
  const blocks = featureBlocks(model);
  const copy = (name: string, first: number, end: number) =>
    copyRows(model, viewOf(memory, layout, name, 'f32'), first, end);
  copy('users', 0, blocks.items);
  if (rows !== undefined) viewOf(memory, layout, 'userRows', 'u32').set(rows.users);
  copy('userLabels', blocks.userLabels, blocks.itemLabels);
  copy('itemLabels', blocks.itemLabels, blocks.featureCount);
  const halves = viewOf(memory, layout, 'itemSides', 'f32');
  const sides = sidesOf(memory, layout, header.factors, 'item', halves);
  const width = rowWidth(header.factors);
  for (let item = 0; item < model.itemCount; item++) {
    const row = rows?.items[item] ?? item;
    copyRows(model, halves.subarray(row * width), blocks.items + item, blocks.items + item + 1);
  }
  for (let row = 0; row < servedItemCount(model); row++) {
    sides.write(row, itemLabelsOf(row), 0, halves, row * width);
  }
  return { memory, layout, header: { ...header, itemCount: servedItemCount(model) }, slots };
}

function sidesOf(
  memory: WebAssembly.Memory,
  layout: MemoryLayout,
  factors: number,
  side: 'user' | 'item',
  oneHot: Float32Array,
): FmSides {
  const names = new LabelTable(memory, layout, `${side}Names`);
  return new FmSides(factors, names, oneHot, viewOf(memory, layout, `${side}Labels`, 'f32'));
}

/** Copies the parameters of the features [first, end) to rows of a vector and a weight. */
function copyRows(
  { linear, vectors, factors }: FmModel,
  out: Float32Array,
  first: number,
  end: number,
): void {
  const width = rowWidth(factors);
  const f = paddedFactors(factors);
  for (let feature = first; feature < end; feature++) {
    const at = (feature - first) * width;
    out.set(vectors.subarray(feature * f, feature * f + factors), at);
    out[at + factors] = linear[feature]!;
  }
}

/** One thread's way to ask a placed model. Arrays that are returned are copies of the caller's own. */
export class FmScorer {
  readonly header: FmSummary;
  readonly #kernels: Kernels;
  readonly #users: FmSides;
  /** The row in the store of each user; empty where rows are the store's own. */
  readonly #userRows: Uint32Array;
  readonly #items: FmSides;
  readonly #halves: Float32Array;
  readonly #query: Float32Array;
  readonly #candidates: Uint32Array;
  readonly #scores: Float32Array;

  /** @param slot this thread's number, below `placed.slots`; no two threads share one */
  constructor(placed: PlacedFm, kernels: Kernels, slot = 0) {
    if (!(slot >= 0 && slot < placed.slots)) throw new RangeError(`slot ${slot} of ${placed.slots}`);
    const { memory, layout, header } = placed;
    this.header = header;
    this.#kernels = kernels;
    this.#userRows = viewOf(memory, layout, 'userRows', 'u32');
    this.#users = sidesOf(memory, layout, header.factors, 'user', viewOf(memory, layout, 'users', 'f32'));
    const halves = viewOf(memory, layout, 'itemSides', 'f32');
    this.#items = sidesOf(memory, layout, header.factors, 'item', halves);
    this.#halves = halves;
    this.#query = rowOf(memory, layout, 'query', slot, 'f32');
    this.#candidates = rowOf(memory, layout, 'candidates', slot, 'u32');
    this.#scores = rowOf(memory, layout, 'scores', slot, 'f32');
  }

  /** A user's half. A user or a label that came after the training counts as the average one. */
  userSide(userRow: number, labels: readonly string[]): FmSide {
    const { userCount, bias } = this.header;
    const isKnown = userRow >= 0 && userRow < userCount;
    const known = this.#userRows.length > 0 ? placeOf(this.#userRows, userRow) : isKnown ? userRow : -1;
    return this.#users.side(known, labels, bias);
  }

  /** The half of an item that came after the training, by its labels alone. */
  itemSideOf(labels: readonly string[]): FmSide {
    return this.#items.side(-1, labels, 0);
  }

  /**
   * The logits of items for a user, in their order; higher is better.
   * @param sideOfNewItem the half of an item past `header.itemCount`; without it such an item counts as the average one
   */
  logits(
    user: FmSide,
    itemRows: ArrayLike<number>,
    sideOfNewItem?: (itemRow: number) => FmSide,
  ): Float32Array {
    const { itemCount } = this.header;
    const logits = new Float32Array(itemRows.length);
    for (let first = 0; first < itemRows.length; first += CANDIDATES) {
      const end = Math.min(itemRows.length, first + CANDIDATES);
      if (itemCount > 0) this.#scoreKnown(user, itemRows, first, end);
      for (let at = first; at < end; at++) {
        const itemRow = itemRows[at]!;
        if (itemRow < itemCount) logits[at] = user.constant + this.#scores[at - first]!;
        else logits[at] = scoreOfSides(user, sideOfNewItem?.(itemRow));
      }
    }
    return logits;
  }

  /** The probability that a logit stands for; `header.positiveRate` says of what. */
  probability(logit: number): number {
    const { slope, offset } = this.header.calibration;
    return sigmoid(slope * logit + offset);
  }

  /** Scores the candidates [first, end) into the slot; one past the model's items takes the place of another there. */
  #scoreKnown(user: FmSide, itemRows: ArrayLike<number>, first: number, end: number): void {
    const { factors, itemCount } = this.header;
    this.#query.fill(0).set(user.vector);
    this.#query[factors] = 1;
    for (let at = first; at < end; at++) {
      this.#candidates[at - first] = itemRows[at]! < itemCount ? itemRows[at]! : 0;
    }
    this.#kernels.scoreItems(
      this.#query.byteOffset,
      this.#halves.byteOffset,
      rowWidth(factors),
      this.#candidates.byteOffset,
      end - first,
      this.#scores.byteOffset,
    );
  }
}

/** One half of a score; a user's holds the bias too. */
export interface FmSide {
  readonly constant: number;
  /** As many numbers as the model has factors. */
  readonly vector: Float32Array;
}

/** Numbers of a row of parameters or of a side: a vector, then what stands beside it, padded for the kernels. */
function rowWidth(factors: number): number {
  return paddedFactors(factors + 1);
}

/** Makes halves out of one side's parameters. */
class FmSides {
  readonly #factors: number;
  readonly #width: number;
  readonly #names: LabelTable;
  readonly #oneHot: Float32Array;
  readonly #labels: Float32Array;
  /** Where a side is added up; see `#add`. */
  readonly #sum: Float64Array;

  /** @param oneHot rows of `rowWidth(factors)` numbers, one a user or item; `labels` likewise, in the order of `names` */
  constructor(factors: number, names: LabelTable, oneHot: Float32Array, labels: Float32Array) {
    this.#factors = factors;
    this.#width = rowWidth(factors);
    this.#names = names;
    this.#oneHot = oneHot;
    this.#labels = labels;
    this.#sum = new Float64Array(factors + 2);
  }

  /** @param row the user's or item's; -1 when it has no feature of its own */
  side(row: number, labels: readonly string[], bias: number): FmSide {
    const factors = this.#factors;
    const numbers = new Float32Array(factors + 1);
    const constant = this.write(row, labels, bias, numbers, 0);
    return { constant, vector: numbers.subarray(0, factors) };
  }

  /**
   * Writes a side as it lies in a row of `rowWidth(factors)` numbers: the vector, the constant behind it.
   * @param at where in `out`; the row's own parameters may stand there
   * @returns the constant
   */
  write(row: number, labels: readonly string[], bias: number, out: Float32Array, at: number): number {
    const width = this.#width;
    const factors = this.#factors;
    const sum = this.#sum.fill(0);
    const found = this.#numbersOf(labels);
    if (row >= 0) this.#add(this.#oneHot, row * width, 1, sum);
    if (found.length > 0) {
      const value = labelValue(found.length);
      for (const number of found) this.#add(this.#labels, number * width, value, sum);
    }
    let squares = 0;
    for (let k = 0; k < factors; k++) {
      out[at + k] = sum[k]!;
      squares += sum[k]! * sum[k]!;
    }
    const constant = bias + sum[factors]! + 0.5 * (squares - sum[factors + 1]!);
    out[at + factors] = constant;
    return constant;
  }

  /** The labels that the model knows, each once. */
  #numbersOf(labels: readonly string[]): readonly number[] {
    const found: number[] = [];
    for (const label of labels) {
      const number = this.#names.numberOf(label);
      if (number >= 0 && !found.includes(number)) found.push(number);
    }
    return found;
  }

  /** Adds a feature's vector, its weight, and the square of its vector, which come to stand in this order. */
  #add(parameters: Float32Array, at: number, value: number, sum: Float64Array): void {
    const factors = this.#factors;
    for (let k = 0; k < factors; k++) {
      const product = value * parameters[at + k]!;
      sum[k]! += product;
      sum[factors + 1]! += product * product;
    }
    sum[factors]! += value * parameters[at + factors]!;
  }
}

/** Score of two halves; an item without a half counts as the average one. */
function scoreOfSides(user: FmSide, item: FmSide | undefined): number {
  if (item === undefined) return user.constant;
  let score = user.constant + item.constant;
  for (let k = 0; k < item.vector.length; k++) score += user.vector[k]! * item.vector[k]!;
  return score;
}
