/**
 * Filling a table of neighbors by any number of threads: each takes chunks of rows from one atomic counter. A row's
 * neighbors do not depend on who finds them, so the table is the same for any number of threads.
 */

import type { NeighborType } from '../../domain/neighbor-type.ts';
import type { Kernels } from '../../kernel/kernels.ts';
import { bitWords, hasBit, setBit } from '../../memory/bits.ts';
import { sharedU32 } from '../../memory/shared-arrays.ts';
import {
  type ChunkCounter,
  createChunkCounter,
  type SharedTask,
  takeChunks,
} from '../part/chunks-for-threads.ts';
import type { IndexPlan } from './index-plan.ts';
import { BLOCK_ROWS, type PlacedSimilarity } from './memory-layout.ts';
import { createDraft, type NeighborDraft, type NeighborTable, packDraft } from './neighbor-table.ts';
import { SimilaritySearch, type VisitNeighbors } from './similarity-search.ts';

/** All that a thread needs to take part; plain data and shared memory. */
export interface NeighborTask extends SharedTask {
  readonly similarity: PlacedSimilarity;
  readonly draft: NeighborDraft;
  /** Plan to find candidates when not all pairs are compared. */
  readonly plan: IndexPlan | undefined;
  /** Bits of the rows whose neighbors are looked for; all when absent. */
  readonly only: Uint32Array<SharedArrayBuffer> | undefined;
  /** Rows from this one on are left without neighbors. */
  readonly rowsEnd: number;
}

export interface NeighborTaskOptions {
  readonly plan?: IndexPlan;
  readonly only?: Uint32Array<SharedArrayBuffer> | undefined;
  /** Rows from this one on are not looked up neighbors for; none when absent. */
  readonly rowsEnd?: number;
  /** Of tasks that run one after the other, so that all of them can be cancelled at once; its own when absent. */
  readonly counter?: ChunkCounter;
}

/** Prepares a task that fills `draft`. @throws RangeError when the draft does not fit the similarity */
export function createNeighborTask(
  similarity: PlacedSimilarity,
  draft: NeighborDraft,
  { plan, only, rowsEnd = similarity.rowCount, counter = createChunkCounter() }: NeighborTaskOptions = {},
): NeighborTask {
  if (draft.rowCount !== similarity.rowCount || draft.k > similarity.listLengthMax) {
    throw new RangeError(`a draft of ${draft.rowCount} x ${draft.k} does not fit the similarity`);
  }
  return { similarity, draft, plan, only, rowsEnd, counter };
}

/**
 * One thread's part: takes chunks until none is left.
 * @param kernels over the similarity's memory
 * @param slot this thread's number, below `similarity.slots`
 * @returns false when the task was cancelled
 */
export function runNeighborTask(task: NeighborTask, kernels: Kernels, slot: number): boolean {
  const { similarity, draft, plan, only } = task;
  const workShare = plan === undefined || plan.exact ? undefined : 1;
  const search = new SimilaritySearch(similarity, kernels, slot, workShare);
  const keep: VisitNeighbors = (row, { rows, scores }) => {
    draft.rows.set(rows, row * draft.k);
    draft.scores.set(scores, row * draft.k);
    draft.counts[row] = rows.length;
  };
  return takeChunks(task, task.rowsEnd, BLOCK_ROWS, (firstRow, endRow) => {
    let rows = 0;
    for (const [from, to] of runs(only, firstRow, endRow)) {
      search.topRows(from, to, draft.k, keep);
      rows += to - from;
    }
    return rows;
  });
}

/** Number of rows whose neighbors are looked for. */
export function rowsToCompare({ only, rowsEnd }: NeighborTask): number {
  if (only === undefined) return rowsEnd;
  let rows = 0;
  for (let row = 0; row < rowsEnd; row++) if (hasBit(only, row)) rows++;
  return rows;
}

/** The stretches of [first, end) whose bits are set. */
function* runs(bits: Uint32Array | undefined, first: number, end: number): Generator<[number, number]> {
  if (bits === undefined) {
    yield [first, end];
    return;
  }
  const isSet = (row: number) => hasBit(bits, row);
  let from = first;
  while (from < end) {
    if (!isSet(from)) {
      from++;
      continue;
    }
    let to = from + 1;
    while (to < end && isSet(to)) to++;
    yield [from, to];
    from = to;
  }
}

/** A similarity, and how it is searched. */
export interface SearchedSimilarity extends Pick<NeighborTaskOptions, 'plan' | 'rowsEnd'> {
  readonly similarity: PlacedSimilarity;
}

/** Similarities that a policy needs: a similarity by labels, one by what is liked in common, or both. */
export interface PolicySimilarities {
  readonly labels: SearchedSimilarity | undefined;
  readonly related: SearchedSimilarity | undefined;
}

/**
 * The tasks that fill one draft as a policy has it: `similar` by labels, `related` by what is liked in common, `auto` by
 * labels for rows that have any and by what is liked in common for the others. They run one after the other, in any order.
 * @throws RangeError when a similarity that the policy needs is absent
 */
export function policyTasks(
  policy: NeighborType,
  { labels, related }: PolicySimilarities,
  labelled: (row: number) => boolean,
  k: number,
): NeighborTask[] {
  const needed = policy === 'related' ? related : labels;
  if (needed === undefined || (policy === 'auto' && related === undefined)) {
    throw new RangeError(`the policy ${policy} lacks a similarity`);
  }
  const { rowCount } = needed.similarity;
  const draft = createDraft(rowCount, k);
  const counter = createChunkCounter();
  const task = ({ similarity, ...options }: SearchedSimilarity, only?: Uint32Array<SharedArrayBuffer>) =>
    createNeighborTask(similarity, draft, { counter, only, ...options });
  if (policy !== 'auto') return [task(needed)];
  const withLabels = bitsOf(rowCount, labelled);
  const without = bitsOf(rowCount, (row) => !labelled(row));
  return [task(needed, withLabels), task(related!, without)];
}

/** The table of tasks that share a draft, once all of them have ended; see `packDraft`. */
export function finishTasks(
  tasks: readonly NeighborTask[],
  fingerprint: number,
  order?: Uint32Array,
): NeighborTable {
  const recall = Math.min(...tasks.map(({ plan }) => plan?.recall ?? 1));
  return packDraft(tasks[0]!.draft, fingerprint, recall, order);
}

function bitsOf(rowCount: number, isSet: (row: number) => boolean): Uint32Array<SharedArrayBuffer> {
  const bits = sharedU32(bitWords(rowCount));
  for (let row = 0; row < rowCount; row++) if (isSet(row)) setBit(bits, row);
  return bits;
}
