import type { Random } from '../../domain/random.ts';

/**
 * Team draft (Radlinski, Kurup and Joachims 2008): the two rankings take turns, the one with fewer picks first and a coin where they have as
 * many, each taking its best item that is not there yet. One that both would take next is no turn.
 */
export function teamDraft(
  first: readonly number[],
  second: readonly number[],
  most: number,
  random: Random,
): number[] {
  const rows: number[] = [];
  const taken = new Set<number>();
  const nextOf = (ranking: readonly number[]) => {
    let at = 0;
    return () => {
      while (at < ranking.length && taken.has(ranking[at]!)) at++;
      return ranking[at];
    };
  };
  const [firstNext, secondNext] = [nextOf(first), nextOf(second)];
  let lead = 0;
  while (rows.length < most) {
    const [one, other] = [firstNext(), secondNext()];
    const isFirst = lead === 0 ? random.float() < 0.5 : lead < 0;
    const row = other === undefined || (isFirst && one !== undefined) ? one : other;
    if (row === undefined) break;
    const isShared = one === other || one === undefined || other === undefined;
    taken.add(row);
    rows.push(row);
    if (!isShared) lead += isFirst ? 1 : -1;
  }
  return rows;
}
