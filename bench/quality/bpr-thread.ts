import { parentPort, workerData } from 'node:worker_threads';
import type { BprTask } from '../baselines/bpr/memory.ts';
import { type BprPhase, BprSolver } from '../baselines/bpr/solver.ts';

const { task } = workerData as { task: BprTask };
const solver = new BprSolver(task);
parentPort?.on('message', (phase: BprPhase) => parentPort?.postMessage(solver.runPhase(phase)));
parentPort?.postMessage(true);
