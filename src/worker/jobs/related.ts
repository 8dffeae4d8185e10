import { typeTest } from '../../recommend/feedback-types.ts';
import type { Ranked } from '../../recommend/ranked.ts';
import { relatedRows } from '../../recommend/related.ts';
import type { RelatedJob } from '../messages.ts';
import { withReads } from './stores.ts';

/** See `RelatedJob`. */
export function findRelated({ dataPath, relation, row, k, positiveTypes }: RelatedJob): Ranked {
  return withReads(dataPath, (reads) => {
    const isPositive = typeTest(positiveTypes, () => reads.feedbackTypes());
    return relatedRows(reads, relation, row, k, isPositive);
  });
}
