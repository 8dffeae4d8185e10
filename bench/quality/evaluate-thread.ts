import { parentPort, workerData } from 'node:worker_threads';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import { MfScorer } from '../../src/model/als/mf-scorer.ts';
import { evaluateUsers } from '../../src/model/evaluation/evaluate.ts';
import { createMfRanker } from '../rankers/factors-ranker.ts';
import type { EvaluateJob } from './evaluate-workers.ts';

const { placed, slot, train, test, cutoffs, first, end } = workerData as EvaluateJob;
const ranker = createMfRanker(new MfScorer(placed, loadKernels(placed.memory), slot));
parentPort?.postMessage(evaluateUsers(ranker, train, test, cutoffs, { first, end }));
