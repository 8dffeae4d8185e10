import { likeTest, typeTest } from '../recommend/history/counts-as-positive.ts';
import { neighborsFromStore } from '../recommend/neighbors/neighbors-from-store.ts';
import type { Ranked } from '../recommend/rows/ranked-rows.ts';
import { throwIfCancelled } from './cancellation.ts';
import type { RelatedJob } from './messages.ts';
import { withReads } from './open-stores.ts';

/** See `RelatedJob`. */
export function findRelated(job: RelatedJob): Ranked {
  const { dataPath, relation, row, k, positiveTypes, positiveTtlMs, untilMs } = job;
  return withReads(dataPath, (reads) => {
    const isPositive = typeTest(positiveTypes, () => reads.feedbackTypes());
    const isLike = likeTest(isPositive, positiveTtlMs, untilMs);
    return neighborsFromStore(reads, relation, row, k, isLike, () => throwIfCancelled(job));
  });
}
