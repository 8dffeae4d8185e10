// A thread of threads.test.ts: runs every phase it is told of in its slot of the training.
import { parentPort, workerData } from 'node:worker_threads';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { AlsSolver } from '../../../src/model/als/als-solver.ts';
import type { AlsTask } from '../../../src/model/als/memory-layout.ts';
import type { AlsPhase } from '../../../src/model/als/training-task.ts';

const { task, slot } = workerData as { task: AlsTask; slot: number };
const solver = new AlsSolver(task, loadKernels(task.memory), slot);
parentPort?.on('message', (phase: AlsPhase) => parentPort?.postMessage(solver.runPhase(phase)));
parentPort?.postMessage(true);
