import { SparseSums } from '../../memory/sparse-sums.ts';
import type { SummedLikes } from '../../model/neighbors/summed-lists.ts';
import type { SumFeature } from '../../model/part/learned-part.ts';
import { MODEL_FEATURES, type ModelFeature, type OpenedParts, type PartName } from '../../model/registry.ts';
import type { RecentLikes } from '../popularity/recent-likes.ts';
import type { VectorReader } from '../vectors/vector-reader.ts';
import { VectorSums } from '../vectors/vector-sums.ts';

/** Items whose sum is a twentieth of the user's largest stand halfway, roughly, between that one and those without any. */
const SHARE_SCALE = 20;

/** The feature that is summed over the latest likes of all, without any model. */
export const LIVE_SUM = 'item_knn_live';
/** The feature that is summed over a user's likes by the vectors of items, where there are some. */
export const VECTOR_SUM = 'vectors';
/** Features that are summed without any model. */
export const MODELLESS_SUMS = [LIVE_SUM, VECTOR_SUM] as const;

/** A feature that is a sum over a user's likes. */
export type SumName = ModelFeature | (typeof MODELLESS_SUMS)[number];

/** Sources of sums beside models; each may be missing. */
export interface SummedBeside {
  /** The user's row in what models know of users by themselves; -1 when absent. */
  readonly userRow?: number;
  readonly recentLikes?: RecentLikes | undefined;
  readonly vectors?: VectorReader | undefined;
}

/** Sums over one user's likes, by item row. */
export type Sums = Omit<SummedLikes, 'sumUp'>;

/** The features that models sum over a user's likes. */
const SUMS: ReadonlyMap<SumName, SumFeature & { readonly part: PartName }> = new Map(
  MODEL_FEATURES.flatMap(({ name, part, feature }) =>
    'sum' in feature ? [[name, { ...feature, part }] as const] : [],
  ),
);

/** The names of all sums over likes, in the order of the features. */
export const SUM_NAMES: readonly SumName[] = [...SUMS.keys(), ...MODELLESS_SUMS];

/** Sums over one user's likes, by feature: good until the models sum up for another. */
export class LikeSums {
  private readonly sums = new Map<SumName, Sums>();
  private readonly live = new LiveSums();
  private readonly byVectors = new VectorSums();

  /**
   * Sums up for a user; what is not among `names` has no sums.
   * @param liked item rows, the latest first
   */
  sumUp(
    parts: OpenedParts | undefined,
    liked: readonly number[],
    names: readonly SumName[],
    { recentLikes, vectors, userRow = -1 }: SummedBeside = {},
  ): void {
    this.sums.clear();
    for (const name of names) {
      if (name === LIVE_SUM) {
        if (recentLikes !== undefined && this.live.sumUp(recentLikes, liked)) this.sums.set(name, this.live);
        continue;
      }
      if (name === VECTOR_SUM) {
        if (vectors !== undefined && this.byVectors.sumUp(vectors, liked))
          this.sums.set(name, this.byVectors);
        continue;
      }
      const { part, sum, weights } = SUMS.get(name)!;
      const sums = sumsOf(parts, part, sum);
      if (sums === undefined) continue;
      sums.sumUp(liked, weights, userRow);
      this.sums.set(name, sums);
    }
  }

  /**
   * Tells the part of one like in the sum of an item. Sums of before are gone.
   * @param place of the like, 0 for the latest
   */
  partOf(
    parts: OpenedParts | undefined,
    { like, place }: { readonly like: number; readonly place: number },
    name: SumName,
    itemRow: number,
    { recentLikes, vectors }: SummedBeside = {},
  ): number {
    if (name === LIVE_SUM) {
      if (recentLikes !== undefined) this.live.sumUp(recentLikes, [like]);
      return recentLikes === undefined ? 0 : this.live.get(itemRow);
    }
    if (name === VECTOR_SUM)
      return vectors !== undefined && this.byVectors.sumUp(vectors, [like]) ? this.byVectors.get(itemRow) : 0;
    const { part, sum, weights } = SUMS.get(name)!;
    const sums = sumsOf(parts, part, sum);
    sums?.sumUp([like], weights.subarray(place, place + 1), -1);
    return sums?.get(itemRow) ?? 0;
  }

  /** The rows and their sums, those below 0 speak against an item; undefined where there are none, and all features of it are 0. */
  of(name: SumName): Sums | undefined {
    return this.sums.get(name);
  }
}

function sumsOf(parts: OpenedParts | undefined, part: PartName, sum: number): SummedLikes | undefined {
  return (parts?.[part] as { readonly sums: readonly SummedLikes[] } | undefined)?.sums[sum];
}

/** Sums over the latest likes of all. */
class LiveSums implements Sums {
  largest = 0;
  private readonly sums = new SparseSums();

  /** @returns false where the likes speak for nothing */
  sumUp(recentLikes: RecentLikes, liked: readonly number[]): boolean {
    recentLikes.sumUp(liked, this.sums);
    this.largest = this.sums.largest();
    return this.largest > 0;
  }

  get(row: number): number {
    return this.sums.get(row);
  }

  copy(rows: ArrayLike<number>, out: Float64Array): void {
    for (let at = 0; at < rows.length; at++) out[at] = this.sums.get(rows[at]!);
  }

  topRows(k: number, _lookedAt: unknown, accept: (row: number) => boolean): Uint32Array {
    return Uint32Array.from(this.sums.best(k, accept).rows);
  }
}

/** The feature of each item: the sum as it is, or ln(1 + 20 share) of the user's largest; 0 for an item that nothing speaks for. */
export function writeSumFeature(
  name: SumName,
  sums: Sums,
  itemRows: ArrayLike<number>,
  out: Float64Array,
): void {
  sums.copy(itemRows, out);
  if (SUMS.get(name)?.isShare === false) return;
  const { largest } = sums;
  for (let at = 0; at < itemRows.length; at++)
    if (out[at] !== 0) out[at] = Math.log1p((SHARE_SCALE * out[at]!) / largest);
}
