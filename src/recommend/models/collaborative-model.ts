import { viewOf } from '../../memory/array-layout.ts';
import { hasBit } from '../../memory/bits.ts';
import { TopK } from '../../memory/top-k.ts';
import { decomposeScore } from '../../model/als/score-decomposition.ts';
import type { MfScorer, PlacedModel } from '../../model/als/scores-and-fold-in.ts';
import { filterRanked, NOTHING, type Ranked } from '../rows/ranked-rows.ts';
import type { CollaborativeModel } from './generation.ts';

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
  return {
    foldIn: (likedItemRows) => scorer.foldIn(likedItemRows) ?? undefined,
    scoreItems: (vector, itemRows) => scorer.scoreItems(vector, itemRows),
    decompose: (likedItemRows, itemRow) => decomposeScore(placed, likedItemRows, itemRow),
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
