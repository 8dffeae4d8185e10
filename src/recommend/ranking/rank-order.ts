import type { Config } from '../../domain/config/config.ts';
import { createRandom } from '../../domain/random.ts';
import { type RankingCase, type RankingWorld, rankingFeatures } from './candidate-features.ts';
import { weigh } from './ranking-features.ts';

/**
 * What orders candidates: what was learned from held-out feedback, the collaborative score, or chance. Where the first is
 * missing the second takes its place, and chance that of the second.
 */
export type RankOrder = 'learned' | 'collaborative' | 'random';

/** What the configuration wants candidates ordered by. */
export function rankOrder({ ranker, offline }: Config['recommend']): RankOrder {
  if (ranker !== 'auto') return ranker;
  return offline.enable_click_through_prediction ? 'learned' : 'random';
}

/**
 * A score for each candidate, the higher the better: by what was learned the probability of positive feedback; else the
 * collaborative score; else a number that hangs on the item and the seed alone.
 * @param seed of the random order; the same for the same user and generation
 */
export function rankCandidates(
  one: RankingCase,
  world: RankingWorld,
  order: RankOrder,
  seed: number,
): Float64Array {
  const { generation } = world;
  const ranking = order === 'learned' ? generation?.ranking : undefined;
  if (ranking !== undefined) {
    const { weights } = ranking;
    const features = rankingFeatures(one, world, ranking.totals, (feature) => weights[feature] !== 0);
    return weigh(features, ranking);
  }
  if (order !== 'random' && one.vector !== undefined && generation?.collaborative !== undefined) {
    return Float64Array.from(generation.collaborative.scoreItems(one.vector, one.candidates));
  }
  return Float64Array.from(one.candidates, (row) =>
    createRandom(seed ^ Math.imul(row + 1, 0x9e3779b1)).float(),
  );
}
