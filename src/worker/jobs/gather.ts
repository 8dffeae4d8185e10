import { buildInteractions, type CompressedMatrix } from '../../dataset/interactions.ts';
import { fingerprintOfAll, type LeftOut, leaveOut } from '../../dataset/leave-out.ts';
import type { TrainingData } from '../../dataset/training-data.ts';
import { filled, sharedF32, sharedU32 } from '../../memory/shared-arrays.ts';
import { checkStageMemory } from '../../model/memory-budget.ts';
import { typeTest } from '../../recommend/feedback-types.ts';
import type { LocalReads } from '../../store/data-store.ts';
import { scanAllFeedback } from '../../store/scan.ts';
import type { GatherJob } from '../messages.ts';
import { LOADING_FEEDBACK } from '../progress.ts';
import { withReads } from './stores.ts';

/** Bytes that a record takes while it is read and sorted: three columns, and two copies of rows. */
const RECORD_BYTES = 40;
/** The same of its weight, where records have one. */
const WEIGHT_BYTES = 12;

/** See `GatherJob`. */
export function gather(job: GatherJob): TrainingData | undefined {
  const { userCount, itemCount, ...records } = withReads(job.dataPath, (reads) => positives(reads, job));
  if (records.userRows.length === 0) return undefined;
  const { heldOut, pairCount, sinceTime, ...kept } = job.leavesOut
    ? leaveOut(records, job.seed)
    : everything(records);
  const interactions = buildInteractions({ userCount, itemCount, ...kept });
  return {
    interactions: {
      ...interactions,
      byUser: shareMatrix(interactions.byUser),
      byItem: shareMatrix(interactions.byItem),
    },
    heldOut: {
      userRows: filled(sharedU32(heldOut.userRows.length), heldOut.userRows),
      itemRows: filled(sharedU32(heldOut.itemRows.length), heldOut.itemRows),
    },
    heldOutSinceMs: sinceTime,
    fingerprint: fingerprintOfAll(interactions, heldOut),
    positives: interactions.count + pairCount,
  };
}

/** Nothing left out. */
function everything({
  userRows,
  itemRows,
  weights,
}: Pick<LeftOut, 'userRows' | 'itemRows' | 'weights'>): LeftOut {
  const none = new Uint32Array(0);
  return {
    userRows,
    itemRows,
    ...(weights !== undefined && { weights }),
    heldOut: { userRows: none, itemRows: none },
    pairCount: 0,
    sinceTime: Number.POSITIVE_INFINITY,
  };
}

function shareMatrix(matrix: CompressedMatrix): CompressedMatrix {
  const { indptr, indices, weights } = matrix;
  return {
    ...matrix,
    indptr: filled(sharedU32(indptr.length), indptr),
    indices: filled(sharedU32(indices.length), indices),
    weights: weights === null ? null : filled(sharedF32(weights.length), weights),
  };
}

/** Reads twice, so that columns are made as long as they have to be: 16 bytes a record, or 20 with weights, and nothing beside. */
function positives(reads: LocalReads, job: GatherJob) {
  let count = 0;
  scanPositives(reads, job, () => count++);
  checkStageMemory(
    LOADING_FEEDBACK,
    {
      training: count * (RECORD_BYTES + (job.positiveWeights === undefined ? 0 : WEIGHT_BYTES)),
      models: 0,
      held: job.heldBytes,
    },
    job.budgetBytes,
  );
  const userRows = new Uint32Array(count);
  const itemRows = new Uint32Array(count);
  const times = new Float64Array(count);
  const { positiveWeights } = job;
  const weights = positiveWeights && new Float32Array(count);
  const names = reads.feedbackTypes();
  let next = 0;
  scanPositives(reads, job, (userRow, itemRow, timeMs, type) => {
    userRows[next] = userRow;
    itemRows[next] = itemRow;
    if (weights !== undefined) weights[next] = positiveWeights!.get(names[type]!) ?? 1;
    times[next++] = timeMs;
  });
  return {
    userCount: reads.userRowCount,
    itemCount: reads.itemRowCount,
    userRows,
    itemRows,
    times,
    ...(weights !== undefined && { weights }),
  };
}

function scanPositives(
  reads: LocalReads,
  { positiveTypes, sinceMs, untilMs }: GatherJob,
  visit: (userRow: number, itemRow: number, timeMs: number, type: number) => void,
): void {
  const isPositive = typeTest(positiveTypes, () => reads.feedbackTypes());
  scanAllFeedback(reads, ({ types, timesMs, userRows, itemRows, length }) => {
    for (let at = 0; at < length; at++) {
      const timeMs = timesMs[at]!;
      if (!isPositive(types[at]!) || timeMs < sinceMs || timeMs > untilMs) continue;
      visit(userRows[at]!, itemRows[at]!, timeMs, types[at]!);
    }
  });
}
