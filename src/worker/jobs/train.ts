import { buildInteractions, fingerprint } from '../../dataset/interactions.ts';
import { loadKernels } from '../../kernel/load-kernels.ts';
import { AlsSolver, trainedModel } from '../../model/als.ts';
import { placeAls } from '../../model/als-memory.ts';
import { alsSettings } from '../../model/als-settings.ts';
import { decodeModel, encodeModel } from '../../model/mf-model.ts';
import { type PlacedModel, placeModel } from '../../model/mf-scorer.ts';
import { typeTest } from '../../recommend/feedback-types.ts';
import { FeedbackColumns, type LocalReads } from '../../store/data-store.ts';
import type { LoadedModel, LoadJob, PhaseJob, PlacedTask, PlaceJob, PublishJob } from '../messages.ts';
import { cacheAt, withReads } from './stores.ts';

/** Name of the saved model among the cache's large values, and of the mark that tells its generation. */
const MODEL = 'collaborative';

/** Records read at a time. */
const SCAN_RECORDS = 65_536;

/** See `PlaceJob`. */
export function place(job: PlaceJob): PlacedTask | undefined {
  const { userCount, itemCount, userRows, itemRows } = withReads(job.dataPath, (reads) =>
    positives(reads, job),
  );
  if (userRows.length === 0) return undefined;
  const interactions = buildInteractions({ userCount, itemCount, userRows, itemRows });
  const task = placeAls(interactions, alsSettings(job.settings), job.slots);
  return { task, fingerprint: fingerprint(interactions), positives: interactions.count };
}

function positives(reads: LocalReads, { positiveTypes, sinceMs, untilMs }: PlaceJob) {
  const isPositive = typeTest(positiveTypes, () => reads.feedbackTypes());
  const found = new FeedbackColumns(SCAN_RECORDS);
  const block = new FeedbackColumns(SCAN_RECORDS);
  for (let from = 0; from >= 0; ) {
    from = reads.scanFeedback(from, SCAN_RECORDS, block);
    for (let at = 0; at < block.length; at++) {
      const timeMs = block.timesMs[at]!;
      if (!isPositive(block.types[at]!) || timeMs < sinceMs || timeMs > untilMs) continue;
      found.push(block.userRows[at]!, block.itemRows[at]!, block.types[at]!, timeMs);
    }
  }
  return {
    userCount: reads.userRowCount,
    itemCount: reads.itemRowCount,
    userRows: found.userRows.subarray(0, found.length),
    itemRows: found.itemRows.subarray(0, found.length),
  };
}

/** See `PhaseJob`. */
export function phase({ task, phase, slot }: PhaseJob): boolean {
  return new AlsSolver(task, loadKernels(task.memory), slot).runPhase(phase);
}

/** See `PublishJob`. */
export async function publish(job: PublishJob): Promise<PlacedModel> {
  const model = trainedModel(job.task, job.fingerprint);
  const cache = cacheAt(job.cachePath);
  await cache.putBlob(MODEL, encodeModel(model));
  await cache.putMark(MODEL, { generation: job.generation });
  return placeModel(model, loadKernels, job.slots, job.listLengthMax);
}

/** See `LoadJob`. */
export async function load(job: LoadJob): Promise<LoadedModel | undefined> {
  const cache = cacheAt(job.cachePath);
  const bytes = await cache.getBlob(MODEL);
  const mark = (await cache.getMark(MODEL)) as { generation: number } | undefined;
  // A worker that sleeps on a snapshot would keep the store from using freed pages again.
  cache.local?.refresh();
  if (bytes === undefined || mark === undefined) return undefined;
  const placed = placeModel(decodeModel(bytes), loadKernels, job.slots, job.listLengthMax);
  return { placed, generation: mark.generation };
}
