export const NEIGHBOR_TYPES = ['similar', 'related', 'auto'] as const;
/** Ways to compare items or users: by labels, by what is liked in common, or by labels where there are any. */
export type NeighborType = (typeof NEIGHBOR_TYPES)[number];

/** True when items or users are compared by labels, false by shared likes. */
export function isByLabels(type: NeighborType, hasLabels: boolean): boolean {
  return type === 'similar' || (type === 'auto' && hasLabels);
}
