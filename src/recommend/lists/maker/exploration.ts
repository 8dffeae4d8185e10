import { createRandom } from '../../../domain/random.ts';
import type { Ranked } from '../../../memory/ranked-rows.ts';
import { RowSet } from '../../rows/row-set.ts';

/** Items that are put into a list, and where from. */
export interface Exploration {
  /** Shares of the places that popular and latest items get, 0 to 1 together. */
  readonly proportions: { readonly popular: number; readonly latest: number };
  /** Entries of the list at most. */
  readonly length: number;
  readonly popularRows: () => ArrayLike<number>;
  readonly latestRows: () => ArrayLike<number>;
  /** True where an item may be put in. */
  readonly accept: (row: number) => boolean;
  readonly seed: number;
}

/**
 * Puts popular and latest items in: at each place a draw decides whether the next entry is popular, latest, or the
 * list's own. An entry that was put in takes the score of the one above it, so that scores never rise.
 */
export function explore(list: Ranked, exploration: Exploration): Ranked {
  const { proportions, length, popularRows, latestRows, accept, seed } = exploration;
  const { popular, latest } = proportions;
  if (popular === 0 && latest === 0) return list;
  const random = createRandom(seed ^ 0x5bd1e995);
  const own = cursor(list.rows, () => true);
  const popularItems = cursor(popularRows(), accept);
  const latestItems = cursor(latestRows(), accept);
  const scoreOf = new Map(list.rows.map((row, at) => [row, list.scores[at]!]));
  const rows: number[] = [];
  const scores: number[] = [];
  const chosen = new RowSet();
  while (rows.length < length) {
    const draw = random.float();
    const source = draw < popular ? popularItems : draw < popular + latest ? latestItems : own;
    const row = source(chosen) ?? own(chosen);
    if (row === undefined) break;
    chosen.add(row);
    rows.push(row);
    scores.push(
      Math.min(scores.at(-1) ?? Number.POSITIVE_INFINITY, scoreOf.get(row) ?? Number.POSITIVE_INFINITY),
    );
  }
  // Before the first entry of the list's own there is no score to take: then it is the list's highest.
  const highest = list.scores[0] ?? 0;
  return { rows, scores: scores.map((score) => Math.min(score, highest)) };
}

/** Gives the next row that passes and is not chosen yet, undefined at the end. */
function cursor(rows: ArrayLike<number>, accept: (row: number) => boolean) {
  let at = 0;
  return (chosen: RowSet): number | undefined => {
    while (at < rows.length) {
      const row = rows[at++]!;
      if (!chosen.has(row) && accept(row)) return row;
    }
    return undefined;
  };
}
