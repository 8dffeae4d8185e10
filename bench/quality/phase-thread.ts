import { parentPort, workerData } from 'node:worker_threads';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import { AlsSolver } from '../../src/model/als/als-solver.ts';
import { SlimSolver } from '../../src/model/slim/slim-solver.ts';
import type { PhaseOf, ThreadWork } from './phase-workers.ts';

const { kind, task, slot } = workerData as ThreadWork;
const solver =
  kind === 'als'
    ? new AlsSolver(task, loadKernels(task.memory), slot)
    : new SlimSolver(task, loadKernels, slot);
parentPort?.on('message', (phase) =>
  parentPort?.postMessage(solver.runPhase(phase as PhaseOf<'als'> & PhaseOf<'slim'>)),
);
parentPort?.postMessage(true);
