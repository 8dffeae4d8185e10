import type { Weighting } from '../neighbors/similarity.ts';

/**
 * How items are compared by common users: a user of n items counts n ^ -0.5, so that those who like everything say less,
 * and an item's norm is the fourth root of what its users count. That is between a cosine, which ranks rare items above
 * what most like, and plain counts, which rank by popularity: the blend with other models needs neither once more.
 */
export const ITEM_KNN_WEIGHTING: Weighting = { elementExponent: 0.5, rowExponent: 0.25 };
