import { parentPort, workerData } from 'node:worker_threads';
import type { Kernels } from '../../src/kernel/kernels.ts';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import type { KernelCall } from './kernel-threads.ts';

const kernels: Kernels = loadKernels((workerData as { memory: WebAssembly.Memory }).memory);
parentPort?.on('message', (call: KernelCall) => {
  if (call.kernel === 'batchTopK') kernels.batchTopK(call.job);
  else kernels.neighborTopK(call.job);
  parentPort?.postMessage(true);
});
parentPort?.postMessage(true);
