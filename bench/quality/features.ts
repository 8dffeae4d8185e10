/** Click-through prediction on sets of ratings: what is learned from, the labels of both sides, and what was held out. */

import { buildInteractions, type CompressedMatrix, rowIndices } from '../../src/dataset/interactions.ts';
import { createRandom } from '../../src/domain/random.ts';
import { splitByTime } from '../../src/evaluate/hold-out-protocol.ts';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import type { ClickData } from '../../src/model/click/examples.ts';
import { FmScorer, type FmSide, placeFm } from '../../src/model/click/fm-scorer.ts';
import { ItemSampler, itemWeights } from '../../src/model/click/item-sampler.ts';
import type { FmModel } from '../../src/model/click/model.ts';
import { CLICK_DEFAULTS, type ClickSettings } from '../../src/model/click/settings.ts';
import { retrainClickModel, trainClickModel } from '../../src/model/click/train.ts';
import type { Estimate } from '../../src/model/evaluation/confidence-interval.ts';
import { auc, logLoss } from '../../src/model/evaluation/metrics.ts';
import { type Ranker, topRows } from '../../src/model/evaluation/ranker.ts';
import type { PairColumns } from '../data-sets/ncf.ts';
import { parseRatings } from '../data-sets/ratings.ts';
import { finish } from '../fit-in-thread.ts';
import { evaluateFullCatalogue } from './evaluations.ts';
import { holdOut } from './hold-out.ts';
import { readSideLabels } from './labels.ts';
import { pick, splitLeaveLastOut } from './leave-last-out.ts';
import { type Format, type LoadOptions, RATING_FILES, readText } from './load.ts';

/** Negatives drawn beside each positive of the test, as many as in the training. */
const TEST_NEGATIVES = CLICK_DEFAULTS.negativesPerPositive;
const TEST_SEED = 20_211_107;

/** A set for click-through prediction out of ratings. */
export interface ClickSet {
  readonly data: ClickData;
  /** All that is held out, positives of new users among them: learned once the model is judged. */
  readonly late: PairColumns;
  /** Positives of the training, held-out ones among them. */
  readonly train: CompressedMatrix;
  /** Positives after the training, of users and items that it knows. */
  readonly test: CompressedMatrix;
}

/** True when ratings of the format can be had with labels. */
export function hasLabels(format: Format): format is 'movielens' | 'csv' {
  return format === 'movielens' || format === 'csv';
}

/**
 * Splits ratings as `loadSet` does. Ratings below `positive` are negatives, and the latest positives of the training
 * are held out for early stopping and calibration, as the service does it; after that they are learned, too.
 */
export function loadClickSet(
  format: 'movielens' | 'csv',
  folder: string,
  options: LoadOptions & { readonly seed: number },
): ClickSet {
  const records = parseRatings(readText(folder, RATING_FILES[format]));
  const least = options.positive ?? Number.NEGATIVE_INFINITY;
  const [userCount, itemCount] = [records.userIds.length, records.itemIds.length];
  const all = records.ratings.map((_, at) => at);
  const liked = all.filter((at) => records.ratings[at]! >= least);
  const times = pick(records.times, liked);
  const userRows = pick(records.userRows, liked);
  const split =
    options.split === 'last' ? splitLeaveLastOut(userRows, times) : splitByTime(times, options.share);
  const side = (at: ArrayLike<number>): PairColumns => ({
    userRows: pick(records.userRows, at),
    itemRows: pick(records.itemRows, at),
  });
  const trainAt = pick(liked, split.train);
  const known = buildInteractions({ userCount, itemCount, ...side(trainAt) });
  const lastTime = trainAt.reduce((latest, at) => Math.max(latest, records.times[at]!), 0);
  const isLiked = new Set(trainAt.map((at) => pairOf(at)));
  const readAt = all.filter(
    (at) => records.ratings[at]! < least && records.times[at]! <= lastTime && !isLiked.has(pairOf(at)),
  );
  const testAt = pick(liked, split.test).filter(
    (at) =>
      !isLiked.has(pairOf(at)) &&
      rowIndices(known.byUser, records.userRows[at]!).length > 0 &&
      rowIndices(known.byItem, records.itemRows[at]!).length > 0,
  );
  // Each pair once, at its last time.
  const last = new Map(trainAt.map((at) => [pairOf(at), at]));
  const distinct = [...last.values()].sort((a, b) => a - b);
  const distinctTimes = pick(records.times, distinct);
  const { late, judged } = holdOut({ ...side(distinct), times: distinctTimes }, options.seed);
  const [isLate, isJudged] = [new Set(late.positions), new Set(judged.positions)];
  const { userLabels, itemLabels } = readSideLabels(format, folder, records.userIds, records.itemIds);
  return {
    data: {
      positives: side(distinct.filter((_, place) => !isLate.has(place))),
      negatives: side(readAt),
      heldOut: side(distinct.filter((_, place) => isJudged.has(place))),
      userCount,
      itemCount,
      userLabelsOf: (row) => userLabels[row]!,
      itemLabelsOf: (row) => itemLabels[row]!,
    },
    late: side(distinct.filter((_, place) => isLate.has(place))),
    train: known.byUser,
    test: buildInteractions({ userCount, itemCount, ...side(testAt) }).byUser,
  };

  function pairOf(at: number): number {
    return records.userRows[at]! * itemCount + records.itemRows[at]!;
  }
}

/** Trains a click-through model on the set. */
export function fitClick(
  set: ClickSet,
  given: Partial<ClickSettings>,
  tell: (line: string) => void,
): FmModel {
  const settings = { ...CLICK_DEFAULTS, ...given };
  const model = trainClickModel({ ...set.data, settings, seed: settings.seed }, loadKernels, {
    onProgress: ({ done, loss, heldOutLoss }) => {
      if (Number.isNaN(loss)) return;
      tell(`epoch ${done}: log loss ${loss.toFixed(5)}, held out ${heldOutLoss.toFixed(5)}`);
    },
  });
  if (model === undefined) throw new Error('the set has no positives');
  tell(`held out in the training: ${JSON.stringify(model.quality)}`);
  const everything = { ...set.data, heldOut: set.late, settings, seed: settings.seed };
  return retrainClickModel(everything, model, loadKernels) ?? model;
}

/**
 * AUC and log loss of the positives after the training against items drawn beside them. They are drawn by their
 * popularity to the power 1/2, as in the training (`AUC`, `LogLoss`), 0 (`AUC-alike`), and 1 (`AUC-popular`), where
 * popularity is no help. And the ranking of the whole catalogue.
 */
export function evaluateClick(
  { data, train, test }: ClickSet,
  model: FmModel,
  cutoffs: readonly number[],
): Map<string, Estimate> {
  const placed = placeFm(model, data.itemLabelsOf);
  const scorer = new FmScorer(placed, loadKernels(placed.memory));
  const metrics = new Map<string, Estimate>();
  const note = (name: string, mean: number) => metrics.set(name, { mean, halfWidth: 0 });
  for (const [name, exponent] of Object.entries({ AUC: 0.5, 'AUC-alike': 0, 'AUC-popular': 1 })) {
    const cases = drawCases(train, test, exponent);
    const scores = new Float32Array(cases.userRows.length);
    for (let at = 0; at < scores.length; at++) {
      const user = scorer.userSide(cases.userRows[at]!, data.userLabelsOf(cases.userRows[at]!));
      scores[at] = scorer.logits(user, [cases.itemRows[at]!])[0]!;
    }
    note(name, auc(scores, cases.targets));
    if (name !== 'AUC') continue;
    note(
      'LogLoss',
      logLoss(
        scores.map((score) => scorer.probability(score)),
        cases.targets,
      ),
    );
  }
  const trained = createFmRanker(scorer, data.itemCount, (userRow) =>
    scorer.userSide(userRow, data.userLabelsOf(userRow)),
  );
  const { metrics: ranking } = evaluateFullCatalogue(trained, train, test, cutoffs);
  return new Map([...metrics, ...ranking]);
}

function createFmRanker(scorer: FmScorer, itemCount: number, sideOf: (userRow: number) => FmSide): Ranker {
  const everyRow = Uint32Array.from({ length: itemCount }, (_, row) => row);
  return {
    topItems: (userRow, k, excluded) => topRows(scorer.logits(sideOf(userRow), everyRow), k, excluded),
    scoreItems: (userRow, itemRows, out) => out.set(scorer.logits(sideOf(userRow), itemRows)),
  };
}

/** The test's pairs with negatives drawn among the items of the training that their users never took up. */
function drawCases(train: CompressedMatrix, test: CompressedMatrix, exponent: number) {
  const random = createRandom(TEST_SEED);
  const columns = { userRows: [], itemRows: train.indices };
  const sampler = new ItemSampler(finish(itemWeights(train.columnCount, [columns], exponent)), random);
  const cases = { userRows: [] as number[], itemRows: [] as number[], targets: [] as number[] };
  const add = (userRow: number, itemRow: number, target: number) => {
    cases.userRows.push(userRow);
    cases.itemRows.push(itemRow);
    cases.targets.push(target);
  };
  for (let userRow = 0; userRow < test.rowCount; userRow++) {
    const own = new Set([...rowIndices(train, userRow), ...rowIndices(test, userRow)]);
    for (const itemRow of rowIndices(test, userRow)) {
      add(userRow, itemRow, 1);
      for (let left = TEST_NEGATIVES; left > 0; ) {
        const negative = sampler.draw();
        if (own.has(negative)) continue;
        add(userRow, negative, 0);
        left--;
      }
    }
  }
  return cases;
}
