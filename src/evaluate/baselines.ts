import { type Interactions, rowIndices } from '../dataset/interactions.ts';
import { createRandom } from '../domain/random.ts';
import { estimate } from '../model/evaluation/confidence-interval.ts';
import { evaluateUsers } from '../model/evaluation/evaluate.ts';
import { type Ranker, topRows } from '../model/evaluation/ranker.ts';
import { createTrial, type Trial } from './hold-out-protocol.ts';
import type { Past } from './read-feedback.ts';

const HOUR_MS = 3_600_000;
/** Windows of popularity that are tried, in hours; infinite counts from the beginning. */
const WINDOW_HOURS = [12, 48, 168, 720, Number.POSITIVE_INFINITY];
/** Share of the known positives that the window is chosen by. */
const CHOICE_SHARE = 0.1;
const CHOICE_CUTOFF = 10;
const CHOICE_USERS_MAX = 5000;

/** Popularity with the window that would have been best lately. */
export interface BestPopularity {
  readonly ranker: Ranker;
  /** Infinite for all there ever was. */
  readonly windowHours: number;
}

/**
 * Finds the rival of a personal list: the most popular items of a window that is chosen on the known part alone, by
 * holding the latest tenth of it out once more.
 */
export function bestPopularity(trial: Trial, seed: number): BestPopularity {
  const { past, known } = trial;
  const inner = createTrial(restrict(past, known), {
    share: CHOICE_SHARE,
    usersMax: CHOICE_USERS_MAX,
    seed,
  });
  let best = { windowHours: WINDOW_HOURS[0]!, ndcg: -1 };
  for (const windowHours of WINDOW_HOURS) {
    const ranker = popularityIn(inner, windowHours);
    const range = { first: 0, end: inner.test.userCount };
    const part = evaluateUsers(ranker, seenBy(inner), inner.test.byUser, [CHOICE_CUTOFF], range);
    const ndcg = estimate(part.values.get(`NDCG@${CHOICE_CUTOFF}`) ?? []).mean;
    if (ndcg > best.ndcg) best = { windowHours, ndcg };
  }
  return { ranker: popularityIn(trial, best.windowHours), windowHours: best.windowHours };
}

/** All that users had any feedback on, which is never recommended. */
export function seenBy({ past, known }: Trial): Interactions['byUser'] {
  const seen = new Map<number, Set<number>>();
  for (const at of known) {
    const mine = seen.get(past.userRows[at]!) ?? new Set<number>();
    mine.add(past.itemRows[at]!);
    seen.set(past.userRows[at]!, mine);
  }
  const indptr = new Uint32Array(past.userIds.length + 1);
  const indices: number[] = [];
  for (let row = 0; row < past.userIds.length; row++) {
    for (const item of [...(seen.get(row) ?? [])].sort((a, b) => a - b)) indices.push(item);
    indptr[row + 1] = indices.length;
  }
  const [rowCount, columnCount] = [past.userIds.length, past.itemIds.length];
  return { rowCount, columnCount, indptr, indices: Uint32Array.from(indices), weights: null };
}

/** The past as it was known. */
function restrict(past: Past, positions: readonly number[]): Past {
  const pick = <T>(column: readonly T[]) => positions.map((at) => column[at]!);
  return {
    ...past,
    userRows: pick(past.userRows),
    itemRows: pick(past.itemRows),
    timesMs: pick(past.timesMs),
    types: pick(past.types),
    values: pick(past.values),
    isPositive: pick(past.isPositive),
  };
}

function popularityIn({ past, known, nowMs }: Trial, windowHours: number): Ranker {
  const counts = new Float32Array(past.itemIds.length);
  const fromMs = nowMs - windowHours * HOUR_MS;
  for (const at of known) {
    if (past.isPositive[at] && past.timesMs[at]! >= fromMs) counts[past.itemRows[at]!]!++;
  }
  return byScores(() => counts);
}

/** Items in an order of chance, another one for each user. */
export function randomRanker({ past, liked }: Trial, seed: number): Ranker {
  const scores = new Float32Array(past.itemIds.length);
  return byScores((userRow) => {
    const random = createRandom(seed ^ Math.imul(userRow + 1, 0x9e3779b1));
    for (let row = 0; row < scores.length; row++) {
      const isKnown = rowIndices(liked.byItem, row).length > 0;
      scores[row] = isKnown ? random.float() : Number.NEGATIVE_INFINITY;
    }
    return scores;
  });
}

function byScores(scoresOf: (userRow: number) => Float32Array): Ranker {
  return {
    topItems: (userRow, k, excluded) => topRows(scoresOf(userRow), k, excluded),
    scoreItems: (userRow, itemRows, out) => {
      const scores = scoresOf(userRow);
      for (let at = 0; at < itemRows.length; at++) out[at] = scores[itemRows[at]!]!;
    },
  };
}
