import type { Config } from '../../config/config.ts';
import { listSpace } from '../../config/list-space.ts';
import { RECOMMENDERS, type RecommenderName } from '../../domain/recommenders.ts';
import type { Discovery } from '../models/feature-names.ts';
import { type RankOrder, rankOrder } from '../ranking/rank-candidates.ts';

/** Factors on the scores of what is put back; `[recommend.replacement]`. */
export interface Replacement {
  readonly positiveDecay: number;
  readonly readDecay: number;
}

/** Which recommenders propose candidates. */
type Proposing = Readonly<Record<RecommenderName, boolean>>;

function proposing(offline: Config['recommend']['offline']): Proposing {
  const entries = RECOMMENDERS.map((name) => [name, offline[`enable_${name}_recommend`]]);
  return Object.fromEntries(entries) as Proposing;
}

/** True where any recommender proposes candidates. */
export function proposesAny(settings: Proposing): boolean {
  return RECOMMENDERS.some((name) => settings[name]);
}

/** The configuration of the offline phase. Plain data: it goes to the workers as it is. */
export interface ListSettings extends Proposing {
  /** The order of the candidates. */
  readonly order: RankOrder;
  /** Entries of a list. */
  readonly cacheSize: number;
  /** Candidates of each recommender, where all together are more than enough for a list. */
  readonly proposals: number;
  /** Number of the latest likes that the item-based recommender looks at. */
  readonly seedItems: number;
  /** Puts read items back, with these factors on their scores; undefined when off. */
  readonly replacement: Replacement | undefined;
  /** Proportions of popular and of latest items put in. */
  readonly explore: { readonly popular: number; readonly latest: number };
  /** See `withDiscovery`. */
  readonly discovery: Discovery;
  readonly seed: number;
  /** Name of the vector space that lists go by; undefined for none. */
  readonly vectorSpace?: string | undefined;
}

function replacementOf({ repeat, replacement }: Config['recommend']): Replacement | undefined {
  if (repeat === 'allow') return { positiveDecay: 1, readDecay: 1 };
  if (repeat === 'never' || !replacement.enable_replacement) return undefined;
  const { positive_replacement_decay: positiveDecay, read_replacement_decay: readDecay } = replacement;
  return { positiveDecay, readDecay };
}

export function listSettings(config: Pick<Config, 'recommend' | 'vectors'>): ListSettings {
  const { recommend } = config;
  const { offline, online, collaborative, cache_size: cacheSize } = recommend;
  const order = rankOrder(recommend);
  return {
    ...proposing(offline),
    ...{ order, cacheSize },
    // What was learned orders those of all recommenders by one measure; the later ones of each are seldom among the best.
    proposals: order === 'learned' ? Math.ceil(cacheSize / 3) : cacheSize,
    seedItems: online.num_feedback_fallback_item_based,
    replacement: replacementOf(recommend),
    explore: offline.explore_recommend,
    discovery: recommend.discovery,
    seed: collaborative.seed,
    vectorSpace: listSpace(config),
  };
}
