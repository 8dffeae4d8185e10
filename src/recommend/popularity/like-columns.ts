/** Likes as columns, the earliest first. */
export interface LikeColumns {
  readonly userRows: Uint32Array;
  readonly itemRows: Uint32Array;
  /** Seconds since the epoch. */
  readonly seconds: Uint32Array;
}

/** The second of a time, 1 at the least. @param timeMs milliseconds since the epoch */
export function secondOf(timeMs: number): number {
  return Math.min(0xffffffff, Math.max(1, Math.floor(timeMs / 1000)));
}
