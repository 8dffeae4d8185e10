/**
 * The recommenders by their names in the configuration and in what the API tells; any can be a fallback. Each has a key
 * `[recommend.offline] enable_NAME_recommend`, which says whether lists take candidates from it.
 */
const RECOMMENDER_KEYS = {
  collaborative: { isOn: true, description: 'Take candidates from matrix factorization.' },
  item_based: { isOn: false, description: 'Take candidates similar to what the user liked.' },
  user_based: { isOn: false, description: 'Take candidates from what similar users liked.' },
  popular: { isOn: false, description: 'Take candidates from the popular items.' },
  latest: { isOn: false, description: 'Take candidates from the latest items.' },
} as const;

export type RecommenderName = keyof typeof RECOMMENDER_KEYS;
export const RECOMMENDERS = Object.keys(RECOMMENDER_KEYS) as readonly RecommenderName[];

/** Something for the configuration key of each recommender. */
export function byRecommenderKey<Value>(
  make: (key: { readonly isOn: boolean; readonly description: string }) => Value,
): { [Name in RecommenderName as `enable_${Name}_recommend`]: Value } {
  const entries = RECOMMENDERS.map(
    (name) => [`enable_${name}_recommend`, make(RECOMMENDER_KEYS[name])] as const,
  );
  return Object.fromEntries(entries.reverse()) as never;
}
