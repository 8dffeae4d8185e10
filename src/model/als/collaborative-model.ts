import { paddedFactors } from '../../kernel/scratch-sizes.ts';
import { hasBit } from '../../memory/bits.ts';
import { rowOf, viewOf } from '../../memory/memory-layout.ts';
import { filterRanked, NOTHING, type Ranked } from '../../memory/ranked-rows.ts';
import { TopK } from '../../memory/top-k.ts';
import { GATHER_ROWS, type MfScorer, type PlacedModel } from './mf-scorer.ts';
import { rowRegularization } from './settings.ts';

/** The collaborative model as serving needs it. */
export interface CollaborativeModel {
  /** The user's vector solved from its liked items against the current item factors; undefined when none of them is in the model. */
  foldIn(likedItemRows: readonly number[]): Float32Array | undefined;
  /** The item's score as the sum of what each liked item adds, worked out with pauses; undefined when the model knows none of them. */
  decompose(
    likedItemRows: readonly number[],
    itemRow: number,
  ): Generator<undefined, ScoreDecomposition | undefined>;
  /** The scores of the items for a user's vector; 0 for an item that the model does not know. */
  scoreItems(vector: Float32Array, itemRows: readonly number[]): Float32Array;
  /** Numbers of a vector. */
  readonly factors: number;
  /** Adds an item's vector at length 1 to the sum; nothing for an item that the model does not know. */
  addDirection(itemRow: number, sum: Float64Array): void;
  /** True for an item that was liked by somebody whom the model has learned from. */
  knows(itemRow: number): boolean;
  /**
   * The `k` items with the highest scores that pass `accept`, best first.
   * @param among look only at these
   */
  topItems(vector: Float32Array, k: number, accept: (itemRow: number) => boolean, among: LookedAt): Ranked;
  /** The rows that `topItems` has for each of many users, in less time, where the bits alone say what passes. */
  topItemsOfMany(
    asked: readonly AskedTogether[],
    k: number,
    allowed: Uint32Array,
  ): readonly ArrayLike<number>[];
}

/** A user who is asked about together with others. */
export interface AskedTogether {
  readonly vector: Float32Array;
  /** Items that are not looked at, ascending. */
  readonly read: readonly number[];
}

/** Features of items that a model uses; `accept` refuses the others, too. */
export interface LookedAt {
  /** Items that are not looked at, ascending. */
  readonly read?: readonly number[];
  /** Only these items: one by one where they are few, or where no bits are given. */
  readonly members?: (Iterable<number> & { readonly size: number }) | undefined;
  /** Only the items whose bits are set. */
  readonly allowed?: Uint32Array | undefined;
}

/** Fetched beside the `k` wanted, for those that `accept` will refuse. */
const SPARE = 64;

/** Members up to this share of all items are scored one by one, which for more would take longer than to look through all. */
const FEW_SHARE = 1 / 16;

/** A matrix factorization as serving needs it. Items that nobody has liked are never among the best. */
export function collaborativeModel(placed: PlacedModel, scorer: MfScorer): CollaborativeModel {
  const { itemCount } = scorer.header;
  const { listLengthMax } = placed;
  // An item that nobody has liked has a vector of zeros: its score says nothing.
  const liked = viewOf(placed.memory, placed.layout, 'liked', 'u32');
  const f = paddedFactors(scorer.header.factors);
  const factors = viewOf(placed.memory, placed.layout, 'itemFactors', 'f32');
  return {
    factors: f,
    addDirection(itemRow, sum) {
      if (!hasBit(liked, itemRow)) return;
      let squares = 0;
      for (let at = 0, from = itemRow * f; at < f; at++) squares += factors[from + at]! ** 2;
      const share = 1 / Math.sqrt(squares);
      for (let at = 0, from = itemRow * f; at < f; at++) sum[at]! += share * factors[from + at]!;
    },
    foldIn: (likedItemRows) => scorer.foldIn(likedItemRows) ?? undefined,
    scoreItems: (vector, itemRows) => scorer.scoreItems(vector, itemRows),
    knows: (itemRow) => hasBit(liked, itemRow),
    decompose: (likedItemRows, itemRow) => decomposeScore(scorer, likedItemRows, itemRow),
    topItemsOfMany: (asked, k, allowed) => scorer.recommendMany(asked, k, likedOf(allowed)),
    topItems(vector, k, given, { read = [], members, allowed }) {
      const accept = (row: number) => hasBit(liked, row) && given(row);
      if (k < 1) return NOTHING;
      const isFew = allowed === undefined || (members?.size ?? itemCount) <= itemCount * FEW_SHARE;
      if (members !== undefined && isFew)
        return best(scorer, vector, k, [...members].filter(isKnown), accept);
      // Most items that are looked at pass, so the best k and some more are nearly always enough; if not, twice as many are.
      for (let fetch = k + SPARE; fetch <= listLengthMax; fetch *= 2) {
        const { itemRows, scores } = scorer.recommend(vector, Math.min(fetch, itemCount), read, allowed);
        const passed = filterRanked({ rows: itemRows, scores }, k, accept);
        if (passed.rows.length === k || itemRows.length < fetch) return passed;
      }
      const rows = members === undefined ? Array.from({ length: itemCount }, (_, row) => row) : [...members];
      return best(scorer, vector, k, rows.filter(isKnown), accept);
    },
  };

  function likedOf(allowed: Uint32Array): Uint32Array {
    return liked.map((word, at) => word & (allowed[at] ?? 0));
  }

  function isKnown(row: number): boolean {
    return row < itemCount;
  }
}

/** Scores the rows one by one; for few rows, or when most of the catalogue is refused. */
function best(
  scorer: MfScorer,
  vector: Float32Array,
  k: number,
  rows: readonly number[],
  accept: (row: number) => boolean,
): Ranked {
  const accepted = rows.filter(accept);
  const scores = scorer.scoreItems(vector, accepted);
  const top = new TopK(k);
  accepted.forEach((row, at) => {
    top.push(row, scores[at]!);
  });
  return top.sorted();
}

/** A predicted score as the sum of what each of the user's items adds to it. */
export interface ScoreDecomposition {
  readonly score: number;
  /** One for each item that the model knows, in the order given; they add up to `score`. */
  readonly parts: readonly { readonly itemRow: number; readonly score: number }[];
}

/**
 * Decomposes the score of an item for a user who is folded in from `likedItemRows` (Hu, Koren, Volinsky 2008,
 * section 5): with the user's vector x = A^-1 sum of y_i, the score y_t x is the sum of y_t A^-1 y_i, where
 * A = unobservedWeight * Gramian + sum of y_i y_i^T + regularization * I.
 * Cost: f^3 / 3 + likes * f^2 operations of 32 bits, with pauses.
 * @returns undefined when the model knows neither the item nor any of the user's
 */
export function* decomposeScore(
  scorer: MfScorer,
  likedItemRows: readonly number[],
  targetRow: number,
): Generator<undefined, ScoreDecomposition | undefined> {
  const { itemCount } = scorer.header;
  const rows = [...new Set(likedItemRows)].filter((row) => row < itemCount);
  if (rows.length === 0 || targetRow >= itemCount) return undefined;
  const pull = yield* pullOf(scorer, rows, targetRow);
  if (pull === null) return undefined;
  const scores = scorer.scoreItems(pull, rows);
  const parts = rows.map((itemRow, at) => ({ itemRow, score: scores[at]! }));
  return { score: parts.reduce((sum, { score }) => sum + score, 0), parts };
}

/**
 * The vector whose product with that of a row is what it pulls towards the target: A^-1 y_t. Pauses after every 256 rows.
 * @returns null where A has no inverse
 */
function* pullOf(
  { header, placed, kernels, slot }: MfScorer,
  rows: readonly number[],
  targetRow: number,
): Generator<undefined, Float32Array | null> {
  const { memory, layout } = placed;
  const f = paddedFactors(header.factors);
  const [own, columns] = [
    rowOf(memory, layout, 'scratch', slot, 'f32'),
    rowOf(memory, layout, 'items', slot, 'u32'),
  ];
  const [out, right] = [own.subarray(0, f * f), own.subarray(f * f, f * f + f)];
  const factors = viewOf(memory, layout, 'itemFactors', 'f32');
  const matrix = new Float32Array(viewOf(memory, layout, 'gramian', 'f32'));
  let scale = header.unobservedWeight;
  let diagonal = rowRegularization(header, rows.length, header.trainedItems ?? header.itemCount);
  for (let from = 0; from < rows.length; from += GATHER_ROWS) {
    if (from > 0) yield;
    // Others use the slot in pauses.
    out.set(matrix);
    const some = rows.slice(from, from + GATHER_ROWS);
    columns.set(some);
    kernels.normalMatrix({
      ...{ source: factors.byteOffset, f, columns: columns.byteOffset, weights: 0, count: some.length },
      ...{ base: out.byteOffset, scale, diagonal, out: out.byteOffset },
      scratch: right.byteOffset + 4 * f,
    });
    matrix.set(out);
    [scale, diagonal] = [1, 0];
  }
  right.set(factors.subarray(targetRow * f, (targetRow + 1) * f));
  return kernels.choleskySolve(out.byteOffset, right.byteOffset, f) === 1 ? new Float32Array(right) : null;
}
