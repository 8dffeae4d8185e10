import { decodeNested, encodeNested, type FrameKind } from '../../model/part/model-bytes-and-checksum.ts';
import type { Point } from '../../store/commit-effects.ts';
import { KEPT_NAMES } from '../../store/model-store.ts';

/** Where the counts stand among the models that nodes share: they are of no generation. */
export const PUBLISHED_COUNTS_NAME = `${KEPT_NAMES}counts`;

/** "FRZP". */
const KIND: FrameKind = { magic: 0x505a5246, version: 1, name: 'published counts of feedback' };

/** Counts of all feedback as one node tells them to those that have no copy of it. */
export interface PublishedCounts {
  /** The last commit that is counted. */
  readonly point: Point;
  /** By the numbers that types have in the counts. */
  readonly typeNames: readonly string[];
  /** What `SavedCounts.save` made, in words. */
  readonly counts: Uint32Array;
}

export function encodePublished(published: Omit<PublishedCounts, 'counts'>, saved: Uint8Array): Uint8Array {
  const counts = new Uint32Array(saved.buffer, saved.byteOffset, saved.length / 4);
  return encodeNested(KIND, { ...published, counts });
}

/** @throws what `decodeNested` does */
export function decodePublished(bytes: Uint8Array): PublishedCounts {
  return decodeNested(KIND, bytes) as PublishedCounts;
}
