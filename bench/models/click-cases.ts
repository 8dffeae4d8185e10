import { createRandom } from '../../src/domain/random.ts';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import { paddedFactors } from '../../src/kernel/scratch-sizes.ts';
import { FmScorer, placeFm } from '../../src/model/click/fm-scorer.ts';
import type { FmModel } from '../../src/model/click/model.ts';
import { trainClickModel } from '../../src/model/click/train.ts';
import { type ModelCase, timed } from './model-case.ts';
import type { HeldOut } from './power-law.ts';

const FACTORS = 16;
const CANDIDATES = 300;
const LABELS = 100;
const LABELS_PER_ITEM = 5;
/** Users scored in one measurement, since one takes less than a millisecond. */
const USERS = 1000;

/** A user's candidates scored one by one out of the features is the reference: what a machine is without its halves. */
export async function clickScoringCase(itemCount: number): Promise<ModelCase> {
  const model = randomModel(itemCount);
  const placed = placeFm(model, labelsOf);
  const scorer = new FmScorer(placed, loadKernels(placed.memory));
  const random = createRandom(2);
  const candidates = Array.from({ length: USERS }, () =>
    Uint32Array.from({ length: CANDIDATES }, () => random.below(itemCount)),
  );
  const numbers = Array.from({ length: itemCount }, (_, row) => labelNumbers(row));
  let sum = 0;
  return {
    name: `click-through: ${CANDIDATES} candidates of ${USERS} users, k=${FACTORS}`,
    aim: 'each well under 1 ms',
    against: 'plain loop over features',
    ours: () =>
      timed(async () => {
        for (const [row, rows] of candidates.entries()) {
          sum += scorer.logits(scorer.userSide(row, ['user 1']), rows)[0]!;
        }
      }),
    reference: () =>
      timed(async () => {
        for (const [row, rows] of candidates.entries()) {
          for (const item of rows) sum += plainLogit(model, row, item, numbers[item]!);
        }
      }),
    note: () => (Number.isFinite(sum) ? '' : 'not finite'),
    close: async () => {},
  };
}

/** One epoch with the default negatives, everything else of a training included. */
export async function clickTrainingCase({ train }: HeldOut): Promise<ModelCase> {
  const { userCount, itemCount, byUser, count } = train;
  const userRows = new Uint32Array(count);
  for (let row = 0; row < userCount; row++) userRows.fill(row, byUser.indptr[row], byUser.indptr[row + 1]);
  const none = { userRows: [], itemRows: [] };
  return {
    name: `click-through: train 1 epoch of ${count} positives`,
    aim: '-',
    against: '-',
    ours: () =>
      timed(async () => {
        const task = {
          positives: { userRows, itemRows: byUser.indices },
          negatives: none,
          heldOut: none,
          userCount,
          itemCount,
          userLabelsOf: () => ['user 1'],
          itemLabelsOf: labelsOf,
          settings: { epochs: 1 },
          seed: 1,
        };
        trainClickModel(task, loadKernels);
      }),
    single: true,
    note: () => `${Math.round(process.memoryUsage.rss() / 1e6)} MB resident`,
    close: async () => {},
  };
}

function labelNumbers(row: number): number[] {
  return Array.from({ length: LABELS_PER_ITEM }, (_, at) => (row * 7 + at * 13) % LABELS);
}

function labelsOf(row: number): string[] {
  return labelNumbers(row).map((number) => `item ${number}`);
}

function randomModel(itemCount: number): FmModel {
  const random = createRandom(1);
  const featureCount = USERS + itemCount + 1 + LABELS;
  const f = paddedFactors(FACTORS);
  return {
    factors: FACTORS,
    epochs: 1,
    userCount: USERS,
    itemCount,
    userLabels: ['user 1'],
    itemLabels: Array.from({ length: LABELS }, (_, number) => `item ${number}`),
    bias: 0,
    calibration: { slope: 1, offset: 0 },
    positiveRate: 0.5,
    negativesPerPositive: 1,
    seed: 1,
    fingerprint: 1,
    quality: {},
    linear: Float32Array.from({ length: featureCount }, () => random.normal()),
    vectors: Float32Array.from({ length: featureCount * f }, () => 0.1 * random.normal()),
  };
}

function plainLogit(
  { bias, linear, vectors }: FmModel,
  user: number,
  item: number,
  labels: number[],
): number {
  const first = linear.length - LABELS;
  const features = [user, USERS + item, first - 1, ...labels.map((number) => first + number)];
  const ofLabel = 1 / Math.sqrt(labels.length);
  let score = bias;
  for (const [at, feature] of features.entries()) score += (at < 3 ? 1 : ofLabel) * linear[feature]!;
  for (let k = 0; k < FACTORS; k++) {
    let sum = 0;
    let squares = 0;
    for (let at = 0; at < features.length; at++) {
      const product = (at < 3 ? 1 : ofLabel) * vectors[features[at]! * FACTORS + k]!;
      sum += product;
      squares += product * product;
    }
    score += 0.5 * (sum * sum - squares);
  }
  return score;
}
