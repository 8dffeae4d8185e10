import { collectTrainingData, type ReplayFeedback } from '../dataset/collect-training-data.ts';
import type { TrainingData } from '../dataset/training-data.ts';
import { shareThatFits } from '../model/part/sample-users-to-fit-memory.ts';
import { typeTest } from '../recommend/history/counts-as-positive.ts';
import type { LocalReads, RepeatedFeedback } from '../store/data-store.ts';
import { timesOf } from '../store/repeats.ts';
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
      weighted:
        job.positiveWeights !== undefined ||
        halfLifeOf(job) < Number.POSITIVE_INFINITY ||
        reads.repeatedCount > 0,
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
  return (visit) => {
    const repeats = new RepeatWeights(reads);
    try {
      scanPositives(reads, job, (user, item, timeMs, type) =>
        visit(user, item, timeMs, (weightOf[type] ?? 1) * faded(timeMs) * repeats.of(user, item, type)),
      );
    } finally {
      repeats.end();
    }
  };
}

/**
 * What feedback weighs for having happened several times: 1 + ln(times), so that who buys bread each week does not hide what
 * else is bought. Asked for in the order of the store.
 */
class RepeatWeights {
  private readonly repeated: Iterator<RepeatedFeedback>;
  private next: RepeatedFeedback | undefined;
  private ofPair: RepeatedFeedback[] = [];

  constructor(reads: LocalReads) {
    this.repeated = reads.repeatedFeedback()[Symbol.iterator]();
    this.advance();
  }

  of(userRow: number, itemRow: number, type: number): number {
    const [known] = this.ofPair;
    if (known?.userRow !== userRow || known.itemRow !== itemRow) this.goTo(userRow, itemRow);
    const found = this.ofPair.find((each) => each.type === type);
    return found === undefined ? 1 : 1 + Math.log(timesOf(found.occurrences));
  }

  /** Lets go of the store. */
  end(): void {
    this.repeated.return?.();
  }

  private goTo(userRow: number, itemRow: number): void {
    this.ofPair = [];
    for (; this.next !== undefined; this.advance()) {
      const { userRow: user, itemRow: item } = this.next;
      if (user > userRow || (user === userRow && item > itemRow)) return;
      if (user === userRow && item === itemRow) this.ofPair.push(this.next);
    }
  }

  private advance(): void {
    const { value, done } = this.repeated.next();
    this.next = done ? undefined : value;
  }
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
