import type { Config } from '../../domain/config/config.ts';
import { type RankOrder, rankOrder } from '../ranking/rank-order.ts';
import type { Replacement } from './replacement.ts';

/** The configuration of the offline phase. Plain data: it goes to the workers as it is. */
export interface ListSettings {
  /** Which recommenders propose candidates. */
  readonly latest: boolean;
  readonly popular: boolean;
  readonly userBased: boolean;
  readonly itemBased: boolean;
  readonly collaborative: boolean;
  /** What orders the candidates. */
  readonly order: RankOrder;
  /** Candidates of each recommender, and entries of a list. */
  readonly cacheSize: number;
  /** How many of the latest likes the item-based recommender looks at. */
  readonly seedItems: number;
  /** Puts read items back, with these factors on their scores; undefined when off. */
  readonly replacement: Replacement | undefined;
  /** Proportions of popular and of latest items put in. */
  readonly explore: { readonly popular: number; readonly latest: number };
  readonly seed: number;
}

export function listSettings(recommend: Config['recommend']): ListSettings {
  const { offline, replacement, online, collaborative } = recommend;
  return {
    latest: offline.enable_latest_recommend,
    popular: offline.enable_popular_recommend,
    userBased: offline.enable_user_based_recommend,
    itemBased: offline.enable_item_based_recommend,
    collaborative: offline.enable_collaborative_recommend,
    order: rankOrder(recommend),
    cacheSize: recommend.cache_size,
    seedItems: online.num_feedback_fallback_item_based,
    replacement: replacement.enable_replacement
      ? {
          positiveDecay: replacement.positive_replacement_decay,
          readDecay: replacement.read_replacement_decay,
        }
      : undefined,
    explore: offline.explore_recommend,
    seed: collaborative.seed,
  };
}
