// A thread of neighbor-table.test.ts: takes its part in a task and ends.
import { parentPort, workerData } from 'node:worker_threads';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { type NeighborTask, runNeighborTask } from '../../../src/model/neighbors/fill-neighbor-table.ts';

const { task, slot } = workerData as { task: NeighborTask; slot: number };
parentPort?.postMessage(runNeighborTask(task, loadKernels(task.similarity.memory), slot));
