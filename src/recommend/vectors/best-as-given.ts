import type { Similarity } from '../../domain/vector-space.ts';
import type { Ranked } from '../../memory/ranked-rows.ts';
import { TopK } from '../../memory/top-k.ts';
import { comparisonWith } from './packed-numbers.ts';

/** What scores by bytes are thought to be off at most: so many times what they were off so far. */
const CAUTION = 2;
/** Vectors read and compared between two pauses: some tenths of a millisecond. */
const STEP_VECTORS = 32;

/**
 * The best of rows by their vectors as they were given, with their similarities. Once `k` are known, those are not read any
 * more that are too far behind by bytes.
 * @param byBytes more than `k` rows, best first
 * @param vectorAt undefined for a row that has gone meanwhile
 */
export function* bestAsGiven(
  { query, similarity, k }: { query: Float32Array; similarity: Similarity; k: number },
  byBytes: Ranked,
  vectorAt: (row: number) => Float32Array | undefined,
): Generator<undefined, Ranked> {
  const best = new TopK(k);
  const { byNumbers, byScore } = comparisonWith(query, similarity);
  let off = 0;
  for (const [at, row] of byBytes.rows.entries()) {
    const about = byScore(byBytes.scores[at]!);
    if (at >= STEP_VECTORS && about + CAUTION * off < best.scoreMin) break;
    const vector = vectorAt(row);
    if (vector !== undefined) {
      const exact = byNumbers(vector);
      off = Math.max(off, Math.abs(exact - about));
      best.push(row, exact);
    }
    if (at % STEP_VECTORS === STEP_VECTORS - 1) yield;
  }
  return yield* best.sortedInSteps();
}
