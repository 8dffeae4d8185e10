/** The recommenders by their names in the configuration and in what the API tells; any can be a fallback. */
export const RECOMMENDERS = ['collaborative', 'item_based', 'user_based', 'popular', 'latest'] as const;
export type RecommenderName = (typeof RECOMMENDERS)[number];
