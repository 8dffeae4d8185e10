import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { CompressedMatrix } from '../../src/dataset/interactions.ts';
import type { PlacedModel } from '../../src/model/als/mf-scorer.ts';
import { type Evaluation, type EvaluationPart, mergeParts } from '../../src/model/evaluation/evaluate.ts';
import type { Ranker } from '../../src/model/evaluation/ranker.ts';
import { threadEntry } from '../../src/platform/program/thread-entry.ts';
import { evaluateFullCatalogue } from './evaluations.ts';

/** A ranker that threads can open for themselves. */
export interface PlacedRanker extends Ranker {
  readonly placed: PlacedModel;
}

/** Work of one thread. */
export interface EvaluateJob {
  readonly placed: PlacedModel;
  readonly slot: number;
  readonly train: CompressedMatrix;
  readonly test: CompressedMatrix;
  readonly cutoffs: readonly number[];
  readonly first: number;
  readonly end: number;
}

/** As `evaluateFullCatalogue`, with the users shared among threads where the ranker allows it. */
export async function evaluateInThreads(
  ranker: Ranker | PlacedRanker,
  train: CompressedMatrix,
  test: CompressedMatrix,
  cutoffs: readonly number[],
  threads: number,
): Promise<Evaluation> {
  if (!('placed' in ranker) || threads < 2) return evaluateFullCatalogue(ranker, train, test, cutoffs);
  const { placed } = ranker;
  const share = Math.ceil(test.rowCount / threads);
  const parts = Array.from({ length: threads }, async (_, slot) => {
    const [first, end] = [slot * share, Math.min(test.rowCount, (slot + 1) * share)];
    const { url, execArgv } = threadEntry(import.meta.url, './evaluate-thread');
    const workerData: EvaluateJob = { placed, slot, train, test, cutoffs, first, end };
    const [part] = (await once(new Worker(url, { execArgv, workerData }), 'message')) as [EvaluationPart];
    return part;
  });
  return mergeParts(await Promise.all(parts), cutoffs);
}
