import { rowIndices } from '../../dataset/interactions.ts';
import { loadKernels } from '../../kernel/load-kernels.ts';
import { decodeFm, encodeFm } from '../../model/click/model.ts';
import type { PairColumns } from '../../model/click/pairs.ts';
import { placeFm } from '../../model/click/scorer.ts';
import { retrainClickModel, trainClickModel } from '../../model/click/train.ts';
import { typeTest } from '../../recommend/feedback-types.ts';
import { FeedbackColumns, type LocalReads } from '../../store/data-store.ts';
import type { ClickJob, PlacedClick } from '../messages.ts';
import { CLICK_NAME, JUDGED_CLICK_NAME } from '../model-mark.ts';
import { cacheAt, withReads } from './stores.ts';

/** Positives, and negatives, that are learnt from: an epoch then takes some seconds at the most. */
const EXAMPLES_MAX = 2_000_000;
/** Records read at a time. */
const SCAN_RECORDS = 65_536;

/** See `ClickJob`. */
export async function learnClicks(job: ClickJob): Promise<PlacedClick | undefined> {
  const { gathered, seed, slots, cancelled, retrains } = job;
  const { interactions, heldOut } = gathered;
  const { userCount, itemCount } = interactions;
  const cache = cacheAt(job.cachePath);
  const judged = retrains ? await cache.getBlob(JUDGED_CLICK_NAME) : undefined;
  // A worker that sleeps on a snapshot would keep the store from using freed pages again.
  cache.local?.refresh();
  const control = {
    shouldStop: () => Atomics.load(cancelled, 0) !== 0,
    onProgress: ({ done, total }: { done: number; total: number }) => job.progress.set([done, total]),
  };
  const learnt = withReads(job.dataPath, (reads) => {
    const itemLabels = itemLabelsOf(reads);
    const task = {
      positives: columnsOf(interactions.byUser),
      negatives: readWithoutPositive(reads, job),
      heldOut,
      userCount,
      itemCount,
      userLabelsOf: (row: number) => reads.userAt(row)?.Labels ?? [],
      itemLabelsOf: itemLabels,
      settings: { examplesMax: EXAMPLES_MAX },
      seed,
    };
    const model =
      judged === undefined
        ? trainClickModel(task, loadKernels, control)
        : retrainClickModel(task, decodeFm(judged), loadKernels, control);
    return model && { model, placed: placeFm(model, itemLabels, slots) };
  });
  if (learnt === undefined) return undefined;
  await cache.putBlob(retrains ? CLICK_NAME : JUDGED_CLICK_NAME, encodeFm(learnt.model));
  return { placed: learnt.placed, quality: learnt.model.quality };
}

/** All items' labels by row. */
export function itemLabelsOf(reads: LocalReads): (row: number) => readonly string[] {
  const labels: (readonly string[])[] = [];
  reads.scanItems(0, (item) => (labels[item.row] = item.labels));
  return (row) => labels[row] ?? [];
}

function columnsOf(byUser: ClickJob['gathered']['interactions']['byUser']): PairColumns {
  const userRows = new Uint32Array(byUser.indices.length);
  for (let row = 0; row < byUser.rowCount; row++)
    userRows.fill(row, byUser.indptr[row], byUser.indptr[row + 1]);
  return { userRows, itemRows: byUser.indices };
}

/** Pairs with read feedback from before what is held out, and no positive one, known or held out: 8 bytes each. */
function readWithoutPositive(reads: LocalReads, job: ClickJob): PairColumns {
  // Read twice, so that the columns are made as long as they have to be.
  let count = 0;
  scanWithoutPositive(reads, job, () => count++);
  const userRows = new Uint32Array(count);
  const itemRows = new Uint32Array(count);
  let next = 0;
  scanWithoutPositive(reads, job, (user, item) => {
    userRows[next] = user;
    itemRows[next++] = item;
  });
  return { userRows, itemRows };
}

function scanWithoutPositive(
  reads: LocalReads,
  job: ClickJob,
  visit: (userRow: number, itemRow: number) => void,
): void {
  const { interactions, heldOut, heldOutSinceMs } = job.gathered;
  const isRead = typeTest(job.readTypes, () => reads.feedbackTypes());
  const pairKey = (user: number, item: number) => user * interactions.itemCount + item;
  const held = new Set(Array.from(heldOut.userRows, (user, at) => pairKey(user, heldOut.itemRows[at]!)));
  const block = new FeedbackColumns(SCAN_RECORDS);
  let lastUser = -1;
  let lastItem = -1;
  for (let from = 0; from >= 0; ) {
    from = reads.scanFeedback(from, SCAN_RECORDS, block);
    for (let at = 0; at < block.length; at++) {
      const user = block.userRows[at]!;
      const item = block.itemRows[at]!;
      if (!isRead(block.types[at]!) || block.timesMs[at]! > heldOutSinceMs) continue;
      // Rows that came after the feedback was gathered are not part of this fit.
      if (user >= interactions.userCount || item >= interactions.itemCount) continue;
      if (lastUser === user && lastItem === item) continue;
      if (contains(rowIndices(interactions.byUser, user), item) || held.has(pairKey(user, item))) continue;
      lastUser = user;
      lastItem = item;
      visit(user, item);
    }
  }
}

/** Whether the ascending values hold one. */
function contains(values: Uint32Array, wanted: number): boolean {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return values[low] === wanted;
}
