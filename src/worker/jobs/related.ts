import { typeTest } from '../../recommend/feedback-types.ts';
import { likeTest } from '../../recommend/history.ts';
import type { Ranked } from '../../recommend/ranked.ts';
import { relatedRows } from '../../recommend/related.ts';
import type { RelatedJob } from '../messages.ts';
import { withReads } from './stores.ts';

/** See `RelatedJob`. */
export function findRelated(job: RelatedJob): Ranked {
  const { dataPath, relation, row, k, positiveTypes, positiveTtlMs, untilMs } = job;
  return withReads(dataPath, (reads) => {
    const isPositive = typeTest(positiveTypes, () => reads.feedbackTypes());
    const isLike = likeTest(isPositive, positiveTtlMs, untilMs);
    return relatedRows(reads, relation, row, k, isLike, () => {
      if (Atomics.load(job.cancelled, 0) !== 0) throw new Error('nobody waits for this any more');
    });
  });
}
