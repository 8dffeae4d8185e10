import type { RowSums } from '../../model/neighbors/row-sums.ts';
import type { SummedLists } from '../../model/neighbors/summed-lists.ts';
import type { SumFeature } from '../../model/part/learned-part.ts';
import { MODEL_FEATURES, type ModelFeature, type OpenedParts, type PartName } from '../../model/registry.ts';

/** Items whose sum is a twentieth of the user's largest stand halfway, roughly, between that one and those without any. */
const SHARE_SCALE = 20;

/** The features that are sums over a user's likes. */
const SUMS: ReadonlyMap<ModelFeature, SumFeature & { readonly part: PartName }> = new Map(
  MODEL_FEATURES.flatMap(({ name, part, feature }) =>
    'sum' in feature ? [[name, { ...feature, part }] as const] : [],
  ),
);

/** Their names, in the order of the features. */
export const SUM_NAMES: readonly ModelFeature[] = [...SUMS.keys()];

/** Scores of one user's likes, by each of the summed models: good until the models sum up for another. */
export class LikeSums {
  private readonly sums = new Map<ModelFeature, RowSums>();

  /**
   * Sums up for a user; what is not among `names` has no sums.
   * @param liked item rows, the latest first
   */
  sumUp(parts: OpenedParts | undefined, liked: readonly number[], names: readonly ModelFeature[]): void {
    this.sums.clear();
    for (const name of names) {
      const { part, sum, weights } = SUMS.get(name)!;
      const sums = (parts?.[part] as SummedLists | undefined)?.sums[sum];
      if (sums === undefined) continue;
      sums.sumUp(liked, weights);
      this.sums.set(name, sums);
    }
  }

  /** The rows and their sums, those below 0 speak against an item; undefined where there are none, and all features of it are 0. */
  of(name: ModelFeature): RowSums | undefined {
    return this.sums.get(name);
  }
}

/** The feature of each item: the sum as it is, or ln(1 + 20 share) of the user's largest; 0 for an item that nothing speaks for. */
export function writeSumFeature(
  name: ModelFeature,
  sums: RowSums,
  itemRows: ArrayLike<number>,
  out: Float64Array,
): void {
  sums.copy(itemRows, out);
  if (!SUMS.get(name)!.isShare) return;
  const { largest } = sums;
  for (let at = 0; at < itemRows.length; at++)
    if (out[at] !== 0) out[at] = Math.log1p((SHARE_SCALE * out[at]!) / largest);
}
