import { type NeighborColumns, RowSums } from './row-sums.ts';

/** The most recent likes that are looked at: each speaks for some hundred items. */
const LIKES_MAX = 200;
/** `sequence_recent` counts a like half after so many later ones, and those that weigh less than this not at all. */
const RECENT_HALF_LIFE_LIKES = 5;
const RECENT_WEIGHT_MIN = 1 / 64;
/** Items whose sum is a twentieth of the user's largest stand halfway, roughly, between that one and those without any. */
const SHARE_SCALE = 20;

/** Models that say of each item which others it speaks for, to be summed over what a user likes. */
type SummedModel = 'slim' | 'itemKnn' | 'sequence';

/** The models that there are. */
type SummedModels = { readonly [Model in SummedModel]: NeighborColumns | undefined };

/** One way to sum. */
interface SumKind {
  readonly model: SummedModel;
  /** What the like with so many later ones weighs; those beyond count not at all. */
  readonly weights: Float64Array;
  /** False where sums of all users compare with one another as they are; else they are taken by the user's largest. */
  readonly isShare: boolean;
}

const ALIKE = new Float64Array(LIKES_MAX).fill(1);
const RECENT = Float64Array.from(
  { length: Math.floor(-Math.log2(RECENT_WEIGHT_MIN) * RECENT_HALF_LIFE_LIKES) + 1 },
  (_, later) => 2 ** (-later / RECENT_HALF_LIFE_LIKES),
);

const KINDS = {
  slim: { model: 'slim', weights: ALIKE, isShare: false },
  item_knn: { model: 'itemKnn', weights: ALIKE, isShare: true },
  sequence: { model: 'sequence', weights: ALIKE, isShare: true },
  sequence_recent: { model: 'sequence', weights: RECENT, isShare: true },
} as const satisfies Record<string, SumKind>;

/** What the sums are called as features of the ranking. */
export type SumName = keyof typeof KINDS;
export const SUM_NAMES = Object.keys(KINDS) as readonly SumName[];

/** The model that a sum is made of. */
export function modelOfSum(name: SumName): SummedModel {
  return KINDS[name].model;
}

/** What a user's likes speak for, by each of the summed models; made once and used for one user after the other. */
export class LikeSums {
  private readonly sums = Object.fromEntries(SUM_NAMES.map((name) => [name, new RowSums()])) as Record<
    SumName,
    RowSums
  >;
  private readonly largest: Record<string, number> = {};
  /** Those summed up for the present user. */
  private readonly names = new Set<SumName>();

  /**
   * Sums up for a user; what is not among `names` has no sums.
   * @param liked item rows, the latest first
   */
  sumUp(models: SummedModels | undefined, liked: readonly number[], names: readonly SumName[]): void {
    this.names.clear();
    for (const name of SUM_NAMES) {
      const sums = this.sums[name];
      sums.clear();
      const model = names.includes(name) ? models?.[KINDS[name].model] : undefined;
      if (model === undefined) continue;
      this.names.add(name);
      sums.addRows(model, liked, KINDS[name].weights);
      if (KINDS[name].isShare) this.largest[name] = sums.largest();
    }
  }

  /** The rows and their sums; those below 0 speak against an item. */
  of(name: SumName): RowSums {
    return this.sums[name];
  }

  /** Whether there is anything summed up by that name: else all features of it are 0. */
  has(name: SumName): boolean {
    return this.names.has(name);
  }

  /** The feature of each item: the sum as it is, or ln(1 + 20 share) of the user's largest; 0 for an item that nothing speaks for. */
  writeFeature(name: SumName, itemRows: ArrayLike<number>, out: Float64Array): void {
    const sums = this.sums[name];
    sums.copy(itemRows, out);
    if (!KINDS[name].isShare) return;
    const largest = this.largest[name]!;
    for (let at = 0; at < itemRows.length; at++)
      if (out[at] !== 0) out[at] = Math.log1p((SHARE_SCALE * out[at]!) / largest);
  }
}
