/** Kinds of lists that a placement may show; docs/placements.md says what each is. */
export const PLACEMENT_KINDS = [
  ...(['for-you', 'because', 'similar', 'together'] as const),
  ...(['trending', 'new', 'continue', 'again'] as const),
] as const;
export type PlacementKind = (typeof PLACEMENT_KINDS)[number];
