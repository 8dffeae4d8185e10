/** The examples of a click-through training: positives, negatives, and held-out records with negatives of their own. */
import { createRandom, type Random } from '../domain/random.ts';
import type { ClickSettings } from './click-settings.ts';
import {
  collectLabels,
  type FeatureLayout,
  type LabelsOf,
  labelRows,
  type SideLabels,
} from './fm-features.ts';
import {
  dealPairs,
  type Examples,
  groupByUser,
  ItemSampler,
  itemWeights,
  joinExamples,
  type PairColumns,
  pairsFingerprint,
  type UserItems,
} from './fm-pairs.ts';

/** Held-out positives that are judged at most. */
const JUDGED_MAX = 20_000;

/** What a click-through model is trained from. Rows of users lie below `userCount`, of items below `itemCount`. */
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

/** What a training works on. */
export interface ClickExamples {
  readonly layout: FeatureLayout;
  readonly labels: SideLabels;
  readonly examples: Examples;
  readonly judged: Examples;
  readonly known: UserItems;
  readonly weights: Float64Array;
  readonly sampledPerPositive: number;
  readonly fingerprint: number;
  /** The generator that chose them, for what is drawn later. */
  readonly random: Random;
}

/** Reads the data and chooses the examples. */
export function* chooseExamples(data: ClickData, settings: ClickSettings): Generator<void, ClickExamples> {
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
  return {
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
export function wholeDraws(wanted: number, random: Random): number {
  const whole = Math.floor(wanted);
  return whole + (random.float() < wanted - whole ? 1 : 0);
}
