// A thread of bpr.test.ts: runs every phase it is told of.
import { parentPort, workerData } from 'node:worker_threads';
import type { BprTask } from '../../bench/baselines/bpr/memory.ts';
import { type BprPhase, BprSolver } from '../../bench/baselines/bpr/solver.ts';

const task = workerData as BprTask;
const solver = new BprSolver(task);
parentPort?.on('message', (phase: BprPhase) => parentPort?.postMessage(solver.runPhase(phase)));
parentPort?.postMessage(true);
