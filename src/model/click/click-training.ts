/** A click-through training in progress: its examples, its machine, and the chunks of rows that pass through it. */
import { type InstantiateKernels, paddedFactors } from '../../kernel/scratch-sizes.ts';
import { ARENA_START, Arena } from '../../memory/arena.ts';
import { placeOf } from '../../memory/binary-search.ts';
import { createSharedMemory } from '../../memory/shared-memory.ts';
import { auc, logLoss } from '../evaluation/metrics.ts';
import { calibrate, sigmoid } from './calibration.ts';
import type { FmOutcome } from './epochs-and-early-stopping.ts';
import { type ClickExamples, wholeDraws } from './examples.ts';
import { FactorizationMachine, type FmParameters } from './factorization-machine.ts';
import { type FeatureLayout, featureBlocks, mostLabels } from './features.ts';
import { FmRowBuffer } from './fm-row-buffer.ts';
import type { FmModel, FmRows } from './model.ts';
import { shuffleExamples } from './pairs-and-negatives.ts';
import type { ClickSettings } from './settings.ts';

/** Rows, and features of theirs, that are made at a time: some 10 ms of training. */
const CHUNK_ROWS = 16_384;
const CHUNK_ENTRIES = 131_072;
/** Features that are looked up between two yields. */
const SLICE_FEATURES = 1 << 16;

function seenRows({ layout, examples, weights, sampledPerPositive }: ClickExamples) {
  const users = new Uint8Array(layout.userCount);
  const items = Uint8Array.from(weights, (weight) => (weight > 0 && sampledPerPositive > 0 ? 1 : 0));
  for (const row of examples.userRows) users[row] = 1;
  for (const row of examples.itemRows) items[row] = 1;
  return { users, items };
}

/** Make one, `initialize` or `resume` it, run epochs, and `finish` with the best parameters. */
export class ClickTraining {
  readonly machine: FactorizationMachine;
  readonly #settings: ClickSettings;
  readonly #parts: ClickExamples;
  readonly #rows: FmRowBuffer;
  /** 1 for each user and item that an example may hold; the others have no feature worth keeping. */
  readonly #seen: { readonly users: Uint8Array; readonly items: Uint8Array };
  readonly #judgedScores: Float32Array;

  /** @param settings whose seed chose the examples */
  constructor(parts: ClickExamples, settings: ClickSettings, instantiate: InstantiateKernels) {
    const { layout, labels } = parts;
    const { featureCount } = featureBlocks(layout);
    const entries = Math.max(CHUNK_ENTRIES, 2 + mostLabels(labels));
    const bytes =
      ARENA_START +
      FactorizationMachine.bytes(featureCount, settings.factors) +
      FmRowBuffer.bytes(CHUNK_ROWS, entries);
    const arena = new Arena(createSharedMemory(bytes));
    this.#settings = settings;
    this.#parts = parts;
    this.machine = new FactorizationMachine(arena, instantiate(arena.memory), featureCount, settings);
    this.#rows = new FmRowBuffer(arena, CHUNK_ROWS, entries, layout, labels);
    this.#judgedScores = new Float32Array(parts.judged.targets.length);
    this.#seen = seenRows(parts);
  }

  get judgedCount(): number {
    return this.#parts.judged.targets.length;
  }

  /** Draws the vectors; those of users and items without a record stay zero, which is the average. */
  *initialize(): Generator<void, void> {
    const { layout, random } = this.#parts;
    const f = paddedFactors(this.#settings.factors);
    yield* this.machine.initialize(random);
    const { vectors } = this.machine;
    for (let user = 0; user < layout.userCount; user++) {
      if (!this.#seen.users[user]) vectors.fill(0, user * f, (user + 1) * f);
    }
    yield;
    for (let item = 0; item < layout.itemCount; item++) {
      const first = (layout.userCount + item) * f;
      if (!this.#seen.items[item]) vectors.fill(0, first, first + f);
    }
  }

  /** Goes on from a model: a user, an item or a label that it does not know begins as the average one. */
  *resume(model: FmModel, rows: FmRows | undefined): Generator<void, void> {
    const { layout } = this.#parts;
    const { machine } = this;
    const f = paddedFactors(this.#settings.factors);
    const { items, userLabels } = featureBlocks(layout);
    machine.forget();
    machine.bias = model.bias;
    const { linear, vectors } = machine;
    let feature = 0;
    for (const known of featuresOf(model, layout, rows)) {
      if (known >= 0) {
        linear[feature] = model.linear[known]!;
        vectors.set(model.vectors.subarray(known * f, (known + 1) * f), feature * f);
        if (feature < items) this.#seen.users[feature] = 1;
        else if (feature < userLabels) this.#seen.items[feature - items] = 1;
      }
      if (++feature % SLICE_FEATURES === 0) yield;
    }
  }

  /** One pass over the examples in a new order, each positive with new negatives. @returns the mean loss of a row */
  *epoch(learningRate: number): Generator<void, number> {
    const { examples, known, sampler, sampledPerPositive, random } = this.#parts;
    let loss = 0;
    let count = 0;
    const train = () => {
      loss += this.machine.train(this.#rows.placed, learningRate);
      count += this.#rows.rowCount;
      this.#rows.clear();
    };
    yield* shuffleExamples(examples, random);
    for (let at = 0; at < examples.targets.length; at++) {
      const userRow = examples.userRows[at]!;
      const target = examples.targets[at]!;
      let left = target === 1 ? wholeDraws(sampledPerPositive, random) : 0;
      let itemRow = examples.itemRows[at]!;
      for (let value = target; ; value = 0) {
        if (itemRow >= 0 && !this.#rows.push(userRow, itemRow, value)) {
          train();
          yield;
          this.#rows.push(userRow, itemRow, value);
        }
        if (left-- === 0) break;
        itemRow = sampler.drawUnknown(userRow, known);
      }
    }
    train();
    return loss / Math.max(1, count);
  }

  /** The mean loss of the held-out records, after calibration: what is judged is the order and the spread. */
  *judge(): Generator<void, number> {
    yield* this.#scoreJudged();
    const { targets } = this.#parts.judged;
    return logLoss(this.#calibrated().probabilities, targets);
  }

  /** The model out of the epoch chosen. */
  *finish({ parameters, epoch }: FmOutcome): Generator<void, FmModel> {
    const { layout, judged, sampledPerPositive, fingerprint } = this.#parts;
    this.machine.restore(parameters);
    yield* this.#scoreJudged();
    const { calibration, probabilities } = this.#calibrated();
    yield;
    const isJudged = this.judgedCount > 0;
    const centered = yield* this.#centered(parameters);
    const positiveCount = judged.targets.reduce((sum, target) => sum + target, 0);
    const positiveRate = isJudged ? positiveCount / this.judgedCount : this.#trainedRate();
    return {
      ...layout,
      factors: this.#settings.factors,
      epochs: Math.max(1, epoch),
      bias: centered.bias,
      calibration,
      positiveRate,
      negativesPerPositive: sampledPerPositive,
      seed: this.#settings.seed,
      fingerprint,
      quality: isJudged
        ? { AUC: auc(probabilities, judged.targets), LogLoss: logLoss(probabilities, judged.targets) }
        : {},
      linear: centered.linear,
      vectors: centered.vectors,
    };
  }

  *#scoreJudged(): Generator<void, void> {
    const { userRows, itemRows, targets } = this.#parts.judged;
    let first = 0;
    const score = () => {
      this.machine.score(this.#rows.placed);
      this.#judgedScores.set(this.#rows.scores.subarray(0, this.#rows.rowCount), first);
      first += this.#rows.rowCount;
      this.#rows.clear();
    };
    for (let at = 0; at < targets.length; at++) {
      if (this.#rows.push(userRows[at]!, itemRows[at]!, targets[at]!)) continue;
      score();
      yield;
      this.#rows.push(userRows[at]!, itemRows[at]!, targets[at]!);
    }
    score();
  }

  #calibrated() {
    const calibration = calibrate(this.#judgedScores, this.#parts.judged.targets);
    const { slope, offset } = calibration;
    return { calibration, probabilities: this.#judgedScores.map((logit) => sigmoid(slope * logit + offset)) };
  }

  /** The share of positives among what an epoch visits. */
  #trainedRate(): number {
    const { targets } = this.#parts.examples;
    const positiveCount = targets.reduce((sum, target) => sum + target, 0);
    return positiveCount / (targets.length + positiveCount * this.#parts.sampledPerPositive);
  }

  /**
   * Moves what all users, and all items, have in common out of their one-hot features. A user or an item that came after
   * the training then counts as the average one, not as one of weight zero. No score of a known user and item changes:
   * with m the mean of the block's vectors, <v, x> = <v - m, x> + <m, x>, and <m, x> is linear in the other features.
   */
  *#centered(parameters: FmParameters): Generator<void, FmParameters> {
    const { layout } = this.#parts;
    const f = paddedFactors(this.#settings.factors);
    const { items, userLabels, featureCount } = featureBlocks(layout);
    const changed = { ...parameters };
    centreBlock(changed, f, featureCount, [0, items], this.#seen.users);
    yield;
    centreBlock(changed, f, featureCount, [items, userLabels], this.#seen.items);
    yield;
    return changed;
  }
}

/**
 * The feature of a model that stands for the same as each feature of another layout, in the order of these; -1 where the
 * model has none that it learned.
 * @param rows which rows of the store those of the layout are; those of layout and model are the same where either is absent
 */
function* featuresOf(
  model: FmModel,
  layout: FeatureLayout,
  rows: FmRows | undefined,
): Generator<number, void> {
  const blocks = featureBlocks(model);
  const f = model.vectors.length / blocks.featureCount;
  // A user or an item that nothing was learned of has parameters of zero.
  const learned = (feature: number) =>
    model.linear[feature] !== 0 || model.vectors[feature * f] !== 0 ? feature : -1;
  const placeIn = (own: Uint32Array | undefined, wanted: Uint32Array | undefined, count: number) =>
    own && wanted ? (row: number) => placeOf(own, wanted[row]!) : (row: number) => (row < count ? row : -1);
  const ofUser = placeIn(model.rows?.users, rows?.users, model.userCount);
  for (let row = 0; row < layout.userCount; row++) {
    const place = ofUser(row);
    yield place < 0 ? -1 : learned(place);
  }
  const ofItem = placeIn(model.rows?.items, rows?.items, model.itemCount);
  for (let row = 0; row < layout.itemCount; row++) {
    const place = ofItem(row);
    yield place < 0 ? -1 : learned(blocks.items + place);
  }
  yield* labelFeatures(layout.userLabels, model.userLabels, blocks.userLabels);
  yield* labelFeatures(layout.itemLabels, model.itemLabels, blocks.itemLabels);
}

function* labelFeatures(
  names: readonly string[],
  known: readonly string[],
  first: number,
): Generator<number, void> {
  const numbers = new Map(known.map((name, number) => [name, first + number]));
  for (const name of names) yield numbers.get(name) ?? -1;
}

/** Parameters that are changed in place. */
interface MutableParameters {
  bias: number;
  readonly linear: Float32Array;
  readonly vectors: Float32Array;
}

/**
 * Centers the features [start, end), of which each row has exactly one of value 1.
 * @param seen 1 where feature start + r was trained; the others become the average, which is zero
 */
function centreBlock(
  parameters: MutableParameters,
  f: number,
  featureCount: number,
  [start, end]: readonly [number, number],
  seen: Uint8Array,
): void {
  const { linear, vectors } = parameters;
  const mean = new Float64Array(f);
  let meanWeight = 0;
  let count = 0;
  for (let feature = start; feature < end; feature++) {
    if (seen[feature - start] === 0) continue;
    count++;
    meanWeight += linear[feature]!;
    for (let k = 0; k < f; k++) mean[k]! += vectors[feature * f + k]!;
  }
  if (count > 0) {
    meanWeight /= count;
    for (let k = 0; k < f; k++) mean[k]! /= count;
  }
  parameters.bias += meanWeight;
  for (let feature = 0; feature < featureCount; feature++) {
    const isInside = feature >= start && feature < end;
    let pull = 0;
    for (let k = 0; k < f; k++) {
      const at = feature * f + k;
      if (isInside) vectors[at] = seen[feature - start] === 1 ? vectors[at]! - mean[k]! : 0;
      else pull += mean[k]! * vectors[at]!;
    }
    if (isInside) linear[feature] = seen[feature - start] === 1 ? linear[feature]! - meanWeight : 0;
    else linear[feature]! += pull;
  }
}
