import { parentPort, workerData } from 'node:worker_threads';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import type { SlimTask } from '../../src/model/slim/memory-layout.ts';
import { type SlimPhase, SlimSolver } from '../../src/model/slim/slim-solver.ts';

const { task, slot } = workerData as { task: SlimTask; slot: number };
const solver = new SlimSolver(task, loadKernels, slot);
parentPort?.on('message', (phase: SlimPhase) => parentPort?.postMessage(solver.runPhase(phase)));
parentPort?.postMessage(true);
