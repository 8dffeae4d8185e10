import { collectTrainingData, type FeedbackCounts, type ReplayFeedback } from '../../dataset/collect.ts';
import type { TrainingData } from '../../dataset/training-data.ts';
import { typeTest } from '../../recommend/feedback-types.ts';
import type { LocalReads } from '../../store/data-store.ts';
import { scanAllFeedback } from '../../store/scan.ts';
import type { GatherJob } from '../messages.ts';
import { withReads } from './stores.ts';

/** See `GatherJob`. */
export function gather(job: GatherJob): TrainingData | undefined {
  return withReads(job.dataPath, (reads) =>
    collectTrainingData(positives(reads, job), {
      userRowCount: reads.userRowCount,
      itemRowCount: reads.itemRowCount,
      weighted: job.positiveWeights !== undefined,
      leavesOut: job.leavesOut,
      seed: job.seed,
      shareOf: (counts) => shareThatFits(counts, job),
    }),
  );
}

/** The share of the users with whom the feedback and a training of it stay within the budget. */
function shareThatFits({ users, items, pairs }: FeedbackCounts, job: GatherJob): number {
  const { footprint, heldBytes, budgetBytes } = job;
  if (footprint === undefined) return 1;
  const left = budgetBytes - heldBytes - footprint.base - items * footprint.item;
  const wanted = users * footprint.user + pairs * footprint.pair;
  if (wanted <= left) return 1;
  // What the items take alone is refused by the training itself, which says what would help.
  return Math.max(SHARE_MIN, left / wanted);
}

/** Fewer users than this share tell nothing about the others. */
const SHARE_MIN = 0.01;

/** All positive feedback that counts, in the order of the store. */
function positives(reads: LocalReads, job: GatherJob): ReplayFeedback {
  const { positiveTypes, positiveWeights, sinceMs, untilMs } = job;
  const isPositive = typeTest(positiveTypes, () => reads.feedbackTypes());
  const weightOf = reads.feedbackTypes().map((name) => positiveWeights?.get(name) ?? 1);
  return (visit) =>
    scanAllFeedback(reads, ({ types, timesMs, userRows, itemRows, length }) => {
      for (let at = 0; at < length; at++) {
        const timeMs = timesMs[at]!;
        const type = types[at]!;
        if (!isPositive(type) || timeMs < sinceMs || timeMs > untilMs) continue;
        visit(userRows[at]!, itemRows[at]!, timeMs, weightOf[type] ?? 1);
      }
    });
}
