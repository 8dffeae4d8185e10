/** Judges orders of examples' candidates by what was liked. */
import { getOrPut } from '../../domain/get-or-put.ts';
import { ndcg } from '../../model/evaluation/metrics.ts';
import type { RankingExample } from './learn-blends.ts';

/** Length of the lists that are compared. */
const LENGTH = 10;

/** One user's candidates, as of one moment or several. */
export type JudgedUser = readonly RankingExample[];

/** Answers of one user are much alike: what they tell counts as one. */
export function byUser(examples: readonly RankingExample[]): readonly JudgedUser[] {
  const users = new Map<number, RankingExample[]>();
  for (const example of examples) getOrPut(users, example.userRow, () => []).push(example);
  return [...users.values()];
}

/**
 * NDCG@10 of the candidates in the order of their scores; of equal ones the first proposed comes first.
 * @param scores one for each candidate
 */
export function rankQuality({ labels, likedCount }: RankingExample, scores: Float64Array): number {
  const hits = new Array<boolean>(LENGTH).fill(false);
  for (let hit = labels.indexOf(1); hit >= 0; hit = labels.indexOf(1, hit + 1)) {
    let rank = 0;
    for (let at = 0; at < scores.length && rank < LENGTH; at++)
      if (scores[at]! > scores[hit]! || (scores[at] === scores[hit] && at < hit)) rank++;
    if (rank < LENGTH) hits[rank] = true;
  }
  return ndcg(hits, LENGTH, likedCount);
}
