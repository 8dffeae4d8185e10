/** The examples of a click-through training: positives, negatives, and held-out records with negatives of their own. */
import type { LabelsOf, PairColumns } from '../../dataset/training-data.ts';
import { createRandom, type Random } from '../../domain/random.ts';
import { collectLabels, type FeatureLayout, labelRows, type SideLabels } from './features.ts';
import { ItemSampler, itemWeights } from './item-sampler.ts';
import {
  dealPairs,
  type Examples,
  groupByUser,
  joinExamples,
  pairsFingerprint,
  type UserItems,
} from './pairs-and-negatives.ts';
import type { ClickSettings } from './settings.ts';

/** Held-out records, positives and negatives, that are judged at most: some 100 ms an epoch. */
const JUDGED_MAX = 200_000;

/** Input of a click-through training. Rows of users lie below `userCount`, or at it for one of whom nothing is learned, of items below `itemCount`. */
export interface ClickData {
  readonly positives: PairColumns;
  /** Read without a positive. */
  readonly negatives: PairColumns;
  /** Positives that are not among `positives`: they judge the model. May be empty; then there are at most 10 epochs. */
  readonly heldOut: PairColumns;
  readonly userCount: number;
  readonly itemCount: number;
  readonly userLabelsOf: LabelsOf;
  readonly itemLabelsOf: LabelsOf;
}

export interface ClickExamples {
  readonly layout: FeatureLayout;
  readonly labels: SideLabels;
  readonly examples: Examples;
  readonly judged: Examples;
  readonly known: UserItems;
  /** Of the items for sampling; `sampler` draws by them. */
  readonly weights: Float64Array;
  readonly sampler: ItemSampler;
  readonly sampledPerPositive: number;
  readonly fingerprint: number;
  /** The generator that chose them, for what is drawn later. */
  readonly random: Random;
}

export function* chooseExamples(data: ClickData, settings: ClickSettings): Generator<void, ClickExamples> {
  const { positives, negatives, heldOut, userCount, itemCount, userLabelsOf, itemLabelsOf } = data;
  const random = createRandom(settings.seed);
  const userLabels = yield* collectLabels(userCount, userLabelsOf);
  const itemLabels = yield* collectLabels(itemCount, itemLabelsOf);
  const labels = {
    user: yield* labelRows(userCount, userLabelsOf, userLabels),
    item: yield* labelRows(itemCount, itemLabelsOf, itemLabels),
  };
  // Negatives may be of users without a row of their own, who count as one.
  const known = yield* groupByUser(userCount + 1, itemCount, [positives, negatives]);
  const weights = yield* itemWeights(itemCount, [positives, negatives], settings.popularityExponent);
  const sampler = new ItemSampler(weights, random);
  const counts = chooseCounts(data, settings);
  const { sampledPerPositive } = counts;
  const [judgedPositives] = yield* dealPairs(heldOut, [counts.judgedPositives, 0], random);
  const [chosenPositives] = yield* dealPairs(positives, [counts.positives, 0], random);
  const [judgedNegatives, chosenNegatives] = yield* dealPairs(
    negatives,
    [counts.judgedNegatives, counts.negatives],
    random,
  );
  const own = yield* groupByUser(userCount, itemCount, [judgedPositives]);
  const drawn = drawNegatives(judgedPositives, known, own, sampledPerPositive, sampler, random);
  return {
    layout: { userCount, itemCount, userLabels, itemLabels },
    labels,
    examples: joinExamples([chosenPositives], [chosenNegatives]),
    judged: joinExamples([judgedPositives], [judgedNegatives, drawn]),
    known,
    weights,
    sampler,
    sampledPerPositive,
    fingerprint: yield* pairsFingerprint([positives, negatives, heldOut]),
    random,
  };
}

/**
 * Numbers of examples that are taken. Of more records than `examplesMax` the same part of both sides is; and negatives are
 * judged in the share that they have in the data, so some of them are held out, too.
 */
function chooseCounts({ positives, negatives, heldOut }: ClickData, settings: ClickSettings) {
  const [positiveCount, negativeCount] = [positives.userRows.length, negatives.userRows.length];
  const share = negativeCount / positiveCount;
  const sampledPerPositive = settings.negativesPerPositive * Math.max(0, 1 - share);
  const judgedMost = Math.floor(JUDGED_MAX / (1 + share + sampledPerPositive));
  const judgedPositives = Math.min(judgedMost, heldOut.userRows.length);
  const judgedNegatives = Math.min(Math.round(judgedPositives * share), negativeCount >> 1);
  const part = Math.min(1, settings.examplesMax / Math.max(positiveCount, negativeCount));
  return {
    sampledPerPositive,
    judgedPositives,
    judgedNegatives,
    positives: Math.round(positiveCount * part),
    negatives: Math.min(Math.round(negativeCount * part), negativeCount - judgedNegatives),
  };
}

/** Negatives for each positive: items that its user has in no record, held out or not. */
function drawNegatives(
  { userRows }: PairColumns,
  known: UserItems,
  judged: UserItems,
  perPositive: number,
  sampler: ItemSampler,
  random: Random,
): PairColumns {
  const drawn = { userRows: [] as number[], itemRows: [] as number[] };
  for (let at = 0; at < userRows.length; at++) {
    const userRow = userRows[at]!;
    for (let left = wholeDraws(perPositive, random); left > 0; left--) {
      const itemRow = sampler.drawUnknown(userRow, known, judged);
      if (itemRow < 0) continue;
      drawn.userRows.push(userRow);
      drawn.itemRows.push(itemRow);
    }
  }
  return drawn;
}

/** A whole number of draws whose mean is `wanted`. */
export function wholeDraws(wanted: number, random: Random): number {
  const whole = Math.floor(wanted);
  return whole + (random.float() < wanted - whole ? 1 : 0);
}
