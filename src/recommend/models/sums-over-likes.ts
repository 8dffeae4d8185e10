import { type RowSums, SUMMED_ROWS_MAX } from '../../model/neighbors/kernel-row-sums.ts';

/** `sequence_recent` counts a like half after so many later ones, and those that weigh less than this not at all. */
const RECENT_HALF_LIFE_LIKES = 5;
const RECENT_WEIGHT_MIN = 1 / 64;
/** Items whose sum is a twentieth of the user's largest stand halfway, roughly, between that one and those without any. */
const SHARE_SCALE = 20;

/** Models that say of each item which others it speaks for, to be summed over what a user likes. */
type SummedModel = 'slim' | 'itemKnn' | 'sequence';

/** The models that there are. */
type SummedModels = {
  readonly [Model in SummedModel]: { readonly sums: readonly RowSums[] } | undefined;
};

/** One way to sum. */
interface SumKind {
  readonly model: SummedModel;
  /** Which of the model's sums. */
  readonly kind: number;
  /** What the like with so many later ones weighs; those beyond count not at all. */
  readonly weights: Float64Array;
  /** False where sums of all users compare with one another as they are; else they are taken by the user's largest. */
  readonly isShare: boolean;
}

const ALIKE = new Float64Array(SUMMED_ROWS_MAX).fill(1);
const RECENT = Float64Array.from(
  { length: Math.floor(-Math.log2(RECENT_WEIGHT_MIN) * RECENT_HALF_LIFE_LIKES) + 1 },
  (_, later) => 2 ** (-later / RECENT_HALF_LIFE_LIKES),
);

const KINDS = {
  slim: { model: 'slim', kind: 0, weights: ALIKE, isShare: false },
  item_knn: { model: 'itemKnn', kind: 0, weights: ALIKE, isShare: true },
  sequence: { model: 'sequence', kind: 0, weights: ALIKE, isShare: true },
  sequence_recent: { model: 'sequence', kind: 1, weights: RECENT, isShare: true },
} as const satisfies Record<string, SumKind>;

/** What the sums are called as features of the ranking. */
export type SumName = keyof typeof KINDS;
export const SUM_NAMES = Object.keys(KINDS) as readonly SumName[];

/** The model that a sum is made of. */
export function modelOfSum(name: SumName): SummedModel {
  return KINDS[name].model;
}

/** What one user's likes speak for, by each of the summed models: good until the models sum up for another. */
export class LikeSums {
  private readonly sums = new Map<SumName, RowSums>();

  /**
   * Sums up for a user; what is not among `names` has no sums.
   * @param liked item rows, the latest first
   */
  sumUp(models: SummedModels | undefined, liked: readonly number[], names: readonly SumName[]): void {
    this.sums.clear();
    for (const name of names) {
      const { model, kind, weights } = KINDS[name];
      const sums = models?.[model]?.sums[kind];
      if (sums === undefined) continue;
      sums.sumUp(liked, weights);
      this.sums.set(name, sums);
    }
  }

  /** The rows and their sums, those below 0 speak against an item; undefined where there are none, and all features of it are 0. */
  of(name: SumName): RowSums | undefined {
    return this.sums.get(name);
  }
}

/** The feature of each item: the sum as it is, or ln(1 + 20 share) of the user's largest; 0 for an item that nothing speaks for. */
export function writeSumFeature(
  name: SumName,
  sums: RowSums,
  itemRows: ArrayLike<number>,
  out: Float64Array,
): void {
  sums.copy(itemRows, out);
  if (!KINDS[name].isShare) return;
  const { largest } = sums;
  for (let at = 0; at < itemRows.length; at++)
    if (out[at] !== 0) out[at] = Math.log1p((SHARE_SCALE * out[at]!) / largest);
}
