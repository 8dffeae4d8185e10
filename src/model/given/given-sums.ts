import { paddedFactors } from '../../kernel/scratch-sizes.ts';
import type { CollaborativeModel } from '../als/collaborative-model.ts';
import type { MfScorer } from '../als/mf-scorer.ts';
import type { Fold } from '../part/given-model.ts';

export interface GivenUsers {
  /** One more than the place of a user's vector, by row of the store; 0 for none. */
  readonly places: Uint32Array;
  readonly fold: Fold;
}

/** Scores by a given model of one user after the other, asked as sums over likes are. */
export class GivenSums {
  /** Scores of all users compare as they are. */
  readonly largest = 1;
  private readonly model: CollaborativeModel;
  private readonly scorer: MfScorer;
  private readonly users: GivenUsers;
  /** Items' vectors by row, of padded length. */
  private readonly factors: Float32Array;
  private vector: Float32Array | undefined;

  constructor(model: CollaborativeModel, scorer: MfScorer, users: GivenUsers, factors: Float32Array) {
    this.model = model;
    this.scorer = scorer;
    this.users = users;
    this.factors = factors;
  }

  /**
   * Asks about a user.
   * @param liked item rows, the latest first
   * @param weights of the likes where they are averaged
   * @param userRow -1 for one of whom nothing but these likes is known
   */
  sumUp(liked: readonly number[], weights: Float64Array, userRow = -1): void {
    const place = this.users.places[userRow] ?? 0;
    if (place > 0) this.vector = this.scorer.userVector(place - 1) ?? undefined;
    else this.vector = this.users.fold === 'mean' ? this.mean(liked, weights) : this.model.foldIn(liked);
  }

  /** 0 for an item that the model does not know. */
  get(row: number): number {
    return this.vector === undefined ? 0 : this.model.scoreItems(this.vector, [row])[0]!;
  }

  copy(rows: ArrayLike<number>, out: Float64Array): void {
    if (this.vector === undefined) out.fill(0, 0, rows.length);
    else out.set(this.scorer.scoreItems(this.vector, rows));
  }

  /** The rows with the highest scores that pass, at most k, best first. */
  topRows(
    k: number,
    lookedAt: { readonly read?: readonly number[]; readonly allowed?: Uint32Array | undefined },
    accept: (row: number) => boolean,
  ): Uint32Array {
    return this.vector === undefined
      ? new Uint32Array(0)
      : Uint32Array.from(this.model.topItems(this.vector, k, accept, lookedAt).rows);
  }

  private mean(liked: readonly number[], weights: Float64Array): Float32Array | undefined {
    const { factors } = this;
    const sum = new Float64Array(paddedFactors(this.scorer.header.factors));
    let whole = 0;
    for (let at = 0; at < Math.min(liked.length, weights.length); at++) {
      const row = liked[at]!;
      if (!this.model.knows(row)) continue;
      const first = row * sum.length;
      for (let number = 0; number < sum.length; number++)
        sum[number]! += weights[at]! * factors[first + number]!;
      whole += weights[at]!;
    }
    return whole === 0 ? undefined : Float32Array.from(sum, (number) => number / whole);
  }
}
