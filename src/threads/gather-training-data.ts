import { collectTrainingData, type ReplayFeedback } from '../dataset/collect-training-data.ts';
import type { TrainingData } from '../dataset/training-data.ts';
import { shareThatFits } from '../model/part/sample-users-to-fit-memory.ts';
import { typeTest } from '../recommend/history/counts-as-positive.ts';
import type { LocalReads } from '../store/data-store.ts';
import { scanAllFeedback } from '../store/scan-feedback.ts';
import { throwIfCancelled } from './cancellation.ts';
import type { GatherJob } from './messages.ts';
import { withReads } from './open-stores.ts';

/** See `GatherJob`. */
export function gather(job: GatherJob): TrainingData | undefined {
  return withReads(job.dataPath, (reads) =>
    collectTrainingData(positives(reads, job), {
      userRowCount: reads.userRowCount,
      itemRowCount: reads.itemRowCount,
      weighted: job.positiveWeights !== undefined || halfLifeOf(job) < Number.POSITIVE_INFINITY,
      leavesOut: job.leavesOut,
      seed: job.seed,
      shareOf: (counts) => shareThatFits(counts, job),
    }),
  );
}

/** The least weight of the oldest records: a weight must be above 0. */
const FADED_MIN = 1e-3;

function halfLifeOf({ halfLifeMs = Number.POSITIVE_INFINITY }: GatherJob): number {
  return halfLifeMs;
}

/**
 * All positive feedback that counts, in the order of the store. Weights fade from the newest record on and not from now, so
 * that the same feedback weighs the same at every fit.
 */
function positives(reads: LocalReads, job: GatherJob): ReplayFeedback {
  const { positiveWeights } = job;
  const weightOf = reads.feedbackTypes().map((name) => positiveWeights?.get(name) ?? 1);
  const halfLifeMs = halfLifeOf(job);
  let newest = Number.NEGATIVE_INFINITY;
  if (halfLifeMs < Number.POSITIVE_INFINITY)
    scanPositives(reads, job, (_user, _item, timeMs) => (newest = Math.max(newest, timeMs)));
  const faded = (timeMs: number) =>
    halfLifeMs < Number.POSITIVE_INFINITY ? Math.max(FADED_MIN, 2 ** ((timeMs - newest) / halfLifeMs)) : 1;
  return (visit) =>
    scanPositives(reads, job, (user, item, timeMs, type) =>
      visit(user, item, timeMs, (weightOf[type] ?? 1) * faded(timeMs)),
    );
}

function scanPositives(
  reads: LocalReads,
  job: GatherJob,
  visit: (userRow: number, itemRow: number, timeMs: number, type: number) => void,
): void {
  const { positiveTypes, sinceMs, untilMs } = job;
  const isPositive = typeTest(positiveTypes, () => reads.feedbackTypes());
  scanAllFeedback(reads, ({ types, timesMs, userRows, itemRows, length }) => {
    throwIfCancelled(job);
    for (let at = 0; at < length; at++) {
      const timeMs = timesMs[at]!;
      const type = types[at]!;
      if (!isPositive(type) || timeMs < sinceMs || timeMs > untilMs) continue;
      visit(userRows[at]!, itemRows[at]!, timeMs, type);
    }
  });
}
