import { SparseSums } from '../../memory/sparse-sums.ts';
import type { SummedLikes } from '../../model/neighbors/summed-lists.ts';
import type { SumFeature } from '../../model/part/learned-part.ts';
import { MODEL_FEATURES, type ModelFeature, type OpenedParts, type PartName } from '../../model/registry.ts';
import type { ItemLabels } from '../catalogue/item-labels.ts';
import type { RecentLikes } from '../popularity/recent-likes.ts';
import { SharedTaste } from '../popularity/shared-taste.ts';
import type { VectorReader } from '../vectors/vector-reader.ts';
import { VectorSums } from '../vectors/vector-sums.ts';
import { LabelSums } from './label-sums.ts';

/** Items whose sum is a twentieth of the user's largest stand halfway, roughly, between that one and those without any. */
const SHARE_SCALE = 20;

/** The feature that is summed over the latest likes of all, without any model. */
export const LIVE_SUM = 'item_knn_live';
/** The feature that is summed over a user's likes by the vectors of items, where there are some. */
export const VECTOR_SUM = 'vectors';
/** The feature that tells how much more those who share the user's taste like an item of late. */
export const TASTE_SUM = 'shared_taste';
/** The feature that is summed over a user's likes by the labels of items, where they have some. */
export const LABEL_SUM = 'labels';
/** Features that no model sums up. */
export const MODELLESS_SUMS = [LIVE_SUM, VECTOR_SUM, TASTE_SUM, LABEL_SUM] as const;

/**
 * What an item of a session weighs with so many later ones: half as much after two, for what comes next follows from what came
 * last. Beside all alike that finds 0.210 and 0.108 of what comes next in data/onlineretail (`npm run quality:sessions`).
 */
export const SESSION_WEIGHTS = Float64Array.from({ length: 64 }, (_, later) => 2 ** (-later / 2));

/** A feature that is a sum over a user's likes. */
export type SumName = ModelFeature | (typeof MODELLESS_SUMS)[number];

/** Sources of sums beside models; each may be missing. */
export interface SummedBeside {
  /** The user's row in what models know of users by themselves; -1 when absent. */
  readonly userRow?: number;
  /** In place of those of each feature. */
  readonly weights?: Float64Array | undefined;
  readonly recentLikes?: RecentLikes | undefined;
  readonly vectors?: VectorReader | undefined;
  readonly labels?: ItemLabels | undefined;
}

/** Sums over one user's likes, by item row; some find no items and compare them alone. */
export type Sums = Omit<SummedLikes, 'sumUp' | 'topRows'> & Partial<Pick<SummedLikes, 'topRows'>>;

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
  private readonly taste = new SharedTaste();
  private readonly byLabels = new LabelSums();

  /**
   * Sums up for a user; what is not among `names` has no sums.
   * @param liked item rows, the latest first
   */
  sumUp(
    parts: OpenedParts | undefined,
    liked: readonly number[],
    names: readonly SumName[],
    beside: SummedBeside = {},
  ): void {
    this.sums.clear();
    for (const name of names) {
      const sums = this.summed(parts, liked, name, beside);
      if (sums !== undefined) this.sums.set(name, sums);
    }
  }

  /** Works out in advance what sums of any user need; pauses. */
  *prepare({ als }: OpenedParts, recentLikes: RecentLikes): Generator<undefined, void> {
    if (als !== undefined) yield* this.taste.prepare(recentLikes, als);
  }

  /**
   * Tells the part of one like in the sum of an item; 0 where it is of all likes together. Sums of before are gone.
   * @param place of the like, 0 for the latest
   */
  partOf(
    parts: OpenedParts | undefined,
    { like, place }: { readonly like: number; readonly place: number },
    name: SumName,
    itemRow: number,
    beside: SummedBeside = {},
  ): number {
    if (name === TASTE_SUM) return 0;
    return this.summed(parts, [like], name, { ...beside, userRow: -1 }, place)?.get(itemRow) ?? 0;
  }

  private summed(
    parts: OpenedParts | undefined,
    liked: readonly number[],
    name: SumName,
    { recentLikes, vectors, labels, userRow = -1, weights: all }: SummedBeside,
    place = 0,
  ): Sums | undefined {
    const { live, byVectors, taste, byLabels } = this;
    const model = parts?.als;
    if (name === LIVE_SUM) return recentLikes && live.sumUp(recentLikes, liked) ? live : undefined;
    if (name === VECTOR_SUM) return vectors && byVectors.sumUp(vectors, liked) ? byVectors : undefined;
    if (name === LABEL_SUM) return labels && byLabels.sumUp(labels, liked, place) ? byLabels : undefined;
    if (name === TASTE_SUM)
      return recentLikes && model && taste.sumUp(recentLikes, model, liked) ? taste : undefined;
    const { part, sum, weights } = SUMS.get(name)!;
    const sums = (parts?.[part] as { readonly sums: readonly SummedLikes[] } | undefined)?.sums[sum];
    sums?.sumUp(liked, (all ?? weights).subarray(place), userRow);
    return sums;
  }

  /** The rows and their sums, those below 0 speak against an item; undefined where there are none, and all features of it are 0. */
  of(name: SumName): Sums | undefined {
    return this.sums.get(name);
  }
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
  if (name === TASTE_SUM || SUMS.get(name)?.isShare === false) return;
  const { largest } = sums;
  for (let at = 0; at < itemRows.length; at++)
    if (out[at] !== 0) out[at] = Math.log1p((SHARE_SCALE * out[at]!) / largest);
}
