/** A click-through training in progress: its examples, its machine, and the chunks of rows that pass through it. */
import { createRandom, type Random } from '../domain/random.ts';
import { type InstantiateKernels, paddedFactors } from '../kernel/scratch.ts';
import { ARENA_START, Arena } from '../memory/arena.ts';
import { createSharedMemory } from '../memory/shared-memory.ts';
import type { ClickSettings } from './click-settings.ts';
import { auc, logLoss } from './evaluation/metrics.ts';
import { calibrate, sigmoid } from './fm-calibration.ts';
import { centreBlock } from './fm-centering.ts';
import {
  collectLabels,
  type FeatureLayout,
  featureBlocks,
  type LabelsOf,
  labelRows,
  mostLabels,
  type SideLabels,
} from './fm-features.ts';
import { FmMachine, type FmParameters } from './fm-machine.ts';
import type { FmModel } from './fm-model.ts';
import {
  dealPairs,
  type Examples,
  groupByUser,
  ItemSampler,
  itemWeights,
  joinExamples,
  type PairColumns,
  pairsFingerprint,
  shuffleExamples,
  type UserItems,
} from './fm-pairs.ts';
import { FmRowBuffer } from './fm-rows.ts';

/** Rows, and features of theirs, that are made at a time: some 10 ms of training. */
const CHUNK_ROWS = 16_384;
const CHUNK_ENTRIES = 131_072;
/** Held-out positives that are judged at most. */
const JUDGED_MAX = 20_000;

/** What a click-through model is trained from. Rows of users lie below `userCount`, of items below `itemCount`. */
export interface ClickData {
  readonly positives: PairColumns;
  /** Read without a positive. */
  readonly negatives: PairColumns;
  /** Positives that are not among `positives`: they judge the model. May be empty; then all epochs are run. */
  readonly heldOut: PairColumns;
  readonly userCount: number;
  readonly itemCount: number;
  readonly userLabelsOf: LabelsOf;
  readonly itemLabelsOf: LabelsOf;
}

interface Parts {
  readonly settings: ClickSettings;
  readonly layout: FeatureLayout;
  readonly labels: SideLabels;
  readonly examples: Examples;
  readonly judged: Examples;
  readonly known: UserItems;
  readonly weights: Float64Array;
  readonly sampledPerPositive: number;
  readonly fingerprint: number;
  readonly random: Random;
}

/** Reads the data, chooses the examples, and sets up the machine. */
export function* prepareClickTraining(
  data: ClickData,
  settings: ClickSettings,
  instantiate: InstantiateKernels,
): Generator<void, ClickTraining> {
  const { positives, negatives, heldOut, userCount, itemCount, userLabelsOf, itemLabelsOf } = data;
  const random = createRandom(settings.seed);
  const userLabels = yield* collectLabels(userCount, userLabelsOf);
  const itemLabels = yield* collectLabels(itemCount, itemLabelsOf);
  const labels = {
    user: yield* labelRows(userCount, userLabelsOf, userLabels),
    item: yield* labelRows(itemCount, itemLabelsOf, itemLabels),
  };
  const known = yield* groupByUser(userCount, itemCount, [positives, negatives]);
  const [positiveCount, negativeCount] = [positives.userRows.length, negatives.userRows.length];
  const most = settings.examplesMax;
  const share = negativeCount / positiveCount;
  const [heldOutPositives] = yield* dealPairs(
    heldOut,
    [Math.min(JUDGED_MAX, heldOut.userRows.length), 0],
    random,
  );
  const heldOutCount = heldOutPositives.userRows.length;
  const [chosen] = yield* dealPairs(positives, [Math.min(most, positiveCount), 0], random);
  // Negatives are judged in the share that they have in the data, so some of them are held out, too.
  const judgedNegatives = Math.min(Math.round(heldOutCount * share), Math.floor(negativeCount / 2));
  const [heldOutNegatives, trained] = yield* dealPairs(
    negatives,
    [judgedNegatives, Math.min(most, negativeCount - judgedNegatives)],
    random,
  );
  const sampledPerPositive = settings.negativesPerPositive * Math.max(0, 1 - share);
  const weights = itemWeights(itemCount, [positives, negatives], settings.popularityExponent);
  const sampled = yield* sampleJudged(heldOutPositives, userCount, itemCount, known, sampledPerPositive, {
    sampler: new ItemSampler(weights, random),
    random,
  });
  const parts: Parts = {
    settings,
    layout: { userCount, itemCount, userLabels, itemLabels },
    labels,
    examples: joinExamples([chosen], [trained]),
    judged: joinExamples([heldOutPositives], [heldOutNegatives, sampled]),
    known,
    weights,
    sampledPerPositive,
    fingerprint: yield* pairsFingerprint([positives, negatives, heldOut]),
    random,
  };
  const training = new ClickTraining(parts, instantiate);
  yield* training.machine.initialize(random);
  return training;
}

/** Negatives for the held-out positives: items that their users have in no record, held out or not. */
function* sampleJudged(
  positives: PairColumns,
  userCount: number,
  itemCount: number,
  known: UserItems,
  perPositive: number,
  { sampler, random }: { readonly sampler: ItemSampler; readonly random: Random },
): Generator<void, PairColumns> {
  const own = yield* groupByUser(userCount, itemCount, [positives]);
  const userRows: number[] = [];
  const itemRows: number[] = [];
  for (let at = 0; at < positives.userRows.length; at++) {
    const userRow = positives.userRows[at]!;
    for (let left = wholeDraws(perPositive, random); left > 0; left--) {
      const itemRow = sampler.drawUnknown(userRow, known, own);
      if (itemRow < 0) continue;
      userRows.push(userRow);
      itemRows.push(itemRow);
    }
  }
  return { userRows, itemRows };
}

/** A whole number of draws whose mean is `wanted`. */
function wholeDraws(wanted: number, random: Random): number {
  const whole = Math.floor(wanted);
  return whole + (random.float() < wanted - whole ? 1 : 0);
}

/** See `prepareClickTraining`. */
export class ClickTraining {
  readonly machine: FmMachine;
  readonly #parts: Parts;
  readonly #rows: FmRowBuffer;
  readonly #sampler: ItemSampler;
  #judgedScores: Float32Array;

  constructor(parts: Parts, instantiate: InstantiateKernels) {
    const { layout, labels, settings } = parts;
    const { featureCount } = featureBlocks(layout);
    const entries = Math.max(CHUNK_ENTRIES, 2 + mostLabels(labels));
    const bytes =
      ARENA_START + FmMachine.bytes(featureCount, settings.factors) + FmRowBuffer.bytes(CHUNK_ROWS, entries);
    const arena = new Arena(createSharedMemory(bytes));
    this.#parts = parts;
    this.machine = new FmMachine(arena, instantiate(arena.memory), featureCount, settings);
    this.#rows = new FmRowBuffer(arena, CHUNK_ROWS, entries, layout, labels);
    this.#sampler = new ItemSampler(parts.weights, parts.random);
    this.#judgedScores = new Float32Array(parts.judged.targets.length);
  }

  get judgedCount(): number {
    return this.#parts.judged.targets.length;
  }

  /** One pass over the examples in a new order, each positive with new negatives. @returns the mean loss of a row */
  *epoch(learningRate: number): Generator<void, number> {
    const { examples, known, sampledPerPositive, random } = this.#parts;
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
        itemRow = this.#sampler.drawUnknown(userRow, known);
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

  /** The model out of the parameters chosen. */
  *finish(parameters: FmParameters): Generator<void, FmModel> {
    const { settings, layout, judged, sampledPerPositive, fingerprint } = this.#parts;
    this.machine.restore(parameters);
    yield* this.#scoreJudged();
    const { calibration, probabilities } = this.#calibrated();
    yield;
    const isJudged = this.judgedCount > 0;
    const centred = yield* this.#centred(parameters);
    const positiveCount = judged.targets.reduce((sum, target) => sum + target, 0);
    return {
      ...layout,
      factors: settings.factors,
      bias: centred.bias,
      calibration,
      positiveRate: isJudged ? positiveCount / this.judgedCount : this.#trainedRate(),
      negativesPerPositive: sampledPerPositive,
      seed: settings.seed,
      fingerprint,
      quality: isJudged
        ? { AUC: auc(probabilities, judged.targets), LogLoss: logLoss(probabilities, judged.targets) }
        : {},
      linear: centred.linear,
      vectors: centred.vectors,
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

  /** See `fm-centering.ts`. */
  *#centred(parameters: FmParameters): Generator<void, FmParameters> {
    const { layout, known, weights, settings } = this.#parts;
    const f = paddedFactors(settings.factors);
    const blocks = featureBlocks(layout);
    const changed = { ...parameters };
    const isUser = (row: number) => known.starts[row + 1]! > known.starts[row]!;
    centreBlock(changed, f, blocks, [0, blocks.items], isUser);
    yield;
    centreBlock(changed, f, blocks, [blocks.items, blocks.userLabels], (row) => weights[row]! > 0);
    yield;
    return changed;
  }
}
