export const NEIGHBOR_TYPES = ['similar', 'related', 'auto'] as const;
/** How items or users are compared: by labels, by what is liked in common, or by labels where there are any. */
export type NeighborType = (typeof NEIGHBOR_TYPES)[number];

/** Whether an item or a user is compared by labels, or else by what is liked in common. */
export function isByLabels(type: NeighborType, hasLabels: boolean): boolean {
  return type === 'similar' || (type === 'auto' && hasLabels);
}
