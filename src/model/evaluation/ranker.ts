/** Questions of an evaluation to a model: items ranked for a user, and scores of listed items. */
export interface Ranker {
  /** The best `k` items for a user, best first, without the `excluded` rows (ascending). */
  topItems(userRow: number, k: number, excluded: Uint32Array): Uint32Array;
  /** Writes the score of each listed item for a user; higher is better. */
  scoreItems(userRow: number, itemRows: Uint32Array, scores: Float32Array): void;
}

/**
 * The rows of the `k` highest scores, best first; of equal scores the lower row first. Rows whose score is
 * not a number or is minus infinity are left out, so a model that knows fewer items answers a shorter list.
 */
export function topRows(scores: Float32Array | Float64Array, k: number, excluded: Uint32Array): Uint32Array {
  const capacity = Math.min(k, scores.length);
  const rows = new Uint32Array(capacity);
  const best = new Float64Array(capacity);
  let size = 0;
  let skip = 0;
  for (let row = 0; row < scores.length; row++) {
    while (skip < excluded.length && excluded[skip]! < row) skip++;
    if (skip < excluded.length && excluded[skip] === row) continue;
    const score = scores[row]!;
    if (!(score > Number.NEGATIVE_INFINITY)) continue;
    if (size === capacity && !(score > best[size - 1]!)) continue;
    if (size < capacity) size++;
    let place = size - 1;
    while (place > 0 && score > best[place - 1]!) {
      best[place] = best[place - 1]!;
      rows[place] = rows[place - 1]!;
      place--;
    }
    if (capacity === 0) break;
    best[place] = score;
    rows[place] = row;
  }
  return rows.subarray(0, size);
}
