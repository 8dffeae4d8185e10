import { isBetter } from './top-k.ts';

/** Item or user rows with their scores, best first; equal scores stand in row order. */
export interface Ranked {
  readonly rows: number[];
  readonly scores: number[];
}

export const NOTHING: Ranked = { rows: [], scores: [] };

/** The first `k` entries that pass. */
export function filterRanked(
  ranked: { readonly rows: ArrayLike<number>; readonly scores: ArrayLike<number> },
  k: number,
  accept: (row: number) => boolean,
): Ranked {
  const rows: number[] = [];
  const scores: number[] = [];
  for (let at = 0; at < ranked.rows.length && rows.length < k; at++) {
    if (!accept(ranked.rows[at]!)) continue;
    rows.push(ranked.rows[at]!);
    scores.push(ranked.scores[at]!);
  }
  return { rows, scores };
}

/** The entries of both, which have no row in common, best first. */
export function mergeRanked(some: Ranked, others: Ranked): Ranked {
  const rows: number[] = [];
  const scores: number[] = [];
  let next = 0;
  const take = ({ rows: from, scores: fromScores }: Ranked, at: number) => {
    rows.push(from[at]!);
    scores.push(fromScores[at]!);
  };
  for (let at = 0; at < some.rows.length; at++) {
    const [row, score] = [some.rows[at]!, some.scores[at]!];
    while (next < others.rows.length && isBetter(others.rows[next]!, others.scores[next]!, row, score))
      take(others, next++);
    take(some, at);
  }
  while (next < others.rows.length) take(others, next++);
  return { rows, scores };
}
