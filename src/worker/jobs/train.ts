import { buildInteractions, type CompressedMatrix, type Interactions } from '../../dataset/interactions.ts';
import { fingerprintOfAll, type LeftOut, leaveOut } from '../../dataset/leave-out.ts';
import { loadKernels } from '../../kernel/load-kernels.ts';
import { type AlsTask, placeAls } from '../../model/als/memory.ts';
import { decodeModel, encodeModel, type MatrixFactorization } from '../../model/als/model.ts';
import { type PlacedModel, placeModel } from '../../model/als/scorer.ts';
import type { AlsSettings } from '../../model/als/settings.ts';
import { AlsSolver, trainedModel } from '../../model/als/train.ts';
import { typeTest } from '../../recommend/feedback-types.ts';
import { FeedbackColumns, type LocalReads } from '../../store/data-store.ts';
import type {
  Gathered,
  GatherJob,
  LoadedModel,
  LoadJob,
  PhaseJob,
  PlaceJob,
  PublishJob,
} from '../messages.ts';
import { MODEL_NAME, type ModelMark } from '../model-mark.ts';
import { cacheAt, withReads } from './stores.ts';

/** Records read at a time. */
const SCAN_RECORDS = 65_536;

/** See `GatherJob`. */
export function gather(job: GatherJob): Gathered | undefined {
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
    heldOut: { userRows: share(heldOut.userRows), itemRows: share(heldOut.itemRows) },
    heldOutSinceMs: sinceTime,
    fingerprint: fingerprintOfAll(interactions, heldOut),
    positives: interactions.count + pairCount,
  };
}

/** Nothing left out. */
function everything({ userRows, itemRows }: Pick<LeftOut, 'userRows' | 'itemRows'>): LeftOut {
  const none = new Uint32Array(0);
  return {
    userRows,
    itemRows,
    heldOut: { userRows: none, itemRows: none },
    pairCount: 0,
    sinceTime: Number.POSITIVE_INFINITY,
  };
}

function shareMatrix(matrix: CompressedMatrix): CompressedMatrix {
  return { ...matrix, indptr: share(matrix.indptr), indices: share(matrix.indices) };
}

/** A copy in memory that every thread may read. */
function share(values: Uint32Array): Uint32Array {
  const shared = new Uint32Array(new SharedArrayBuffer(values.byteLength));
  shared.set(values);
  return shared;
}

/** Reads twice, so that columns are made as long as they have to be: 16 bytes a record and nothing beside. */
function positives(reads: LocalReads, job: GatherJob) {
  let count = 0;
  scanPositives(reads, job, () => count++);
  const userRows = new Uint32Array(count);
  const itemRows = new Uint32Array(count);
  const times = new Float64Array(count);
  let next = 0;
  scanPositives(reads, job, (userRow, itemRow, timeMs) => {
    userRows[next] = userRow;
    itemRows[next] = itemRow;
    times[next++] = timeMs;
  });
  return { userCount: reads.userRowCount, itemCount: reads.itemRowCount, userRows, itemRows, times };
}

function scanPositives(
  reads: LocalReads,
  { positiveTypes, sinceMs, untilMs }: GatherJob,
  visit: (userRow: number, itemRow: number, timeMs: number) => void,
): void {
  const isPositive = typeTest(positiveTypes, () => reads.feedbackTypes());
  const block = new FeedbackColumns(SCAN_RECORDS);
  for (let from = 0; from >= 0; ) {
    from = reads.scanFeedback(from, SCAN_RECORDS, block);
    for (let at = 0; at < block.length; at++) {
      const timeMs = block.timesMs[at]!;
      if (!isPositive(block.types[at]!) || timeMs < sinceMs || timeMs > untilMs) continue;
      visit(block.userRows[at]!, block.itemRows[at]!, timeMs);
    }
  }
}

/** See `PlaceJob`. */
export async function place(job: PlaceJob): Promise<AlsTask> {
  const { settings, slots, warmStartFrom } = job;
  const { interactions, heldOut } = job.gathered;
  const itemFactors =
    warmStartFrom === undefined ? job.itemFactors : await savedItems(warmStartFrom, settings, interactions);
  const start = { heldOut, ...(itemFactors !== undefined && { itemFactors }) };
  return placeAls(interactions, settings, slots, start);
}

/** The saved model's item factors, where a training can start from them. */
async function savedItems(
  cachePath: string,
  { factors }: AlsSettings,
  { itemCount }: Interactions,
): Promise<Float32Array | undefined> {
  const model = await savedModel(cachePath);
  return model !== undefined && model.factors === factors && model.itemCount <= itemCount
    ? model.itemFactors
    : undefined;
}

/** See `PhaseJob`. */
export function phase({ task, phase, slot }: PhaseJob): boolean {
  return new AlsSolver(task, loadKernels(task.memory), slot).runPhase(phase);
}

/** See `PublishJob`. */
export async function publish(job: PublishJob): Promise<PlacedModel> {
  const { fingerprint, save } = job;
  const model = trainedModel(job.task, fingerprint, job.quality);
  if (save !== undefined) {
    const { cachePath, ...rest } = save;
    const cache = cacheAt(cachePath);
    await cache.putBlob(MODEL_NAME, encodeModel(model));
    await cache.putMark(MODEL_NAME, { fingerprint, ...rest } satisfies ModelMark);
  }
  return placeModel(model, loadKernels, job.slots, job.listLengthMax);
}

/** See `LoadJob`. */
export async function load(job: LoadJob): Promise<LoadedModel | undefined> {
  const mark = (await cacheAt(job.cachePath).getMark(MODEL_NAME)) as ModelMark | undefined;
  const model = await savedModel(job.cachePath);
  if (model === undefined || mark === undefined) return undefined;
  return {
    placed: placeModel(model, loadKernels, job.slots, job.listLengthMax),
    generation: mark.generation,
  };
}

async function savedModel(cachePath: string): Promise<MatrixFactorization | undefined> {
  const cache = cacheAt(cachePath);
  const bytes = await cache.getBlob(MODEL_NAME);
  // A worker that sleeps on a snapshot would keep the store from using freed pages again.
  cache.local?.refresh();
  return bytes && decodeModel(bytes);
}
