import { availableParallelism, totalmem } from 'node:os';
import { readCgroupLimits } from './cgroup.ts';

/** Facts of the machine by the runtime and the control groups. */
export interface Machine {
  readonly processors: number;
  readonly totalBytes: number;
  /** Limits on memory that the runtime knows of; undefined, 0 or absurdly much for none. */
  readonly constrainedBytes: number | undefined;
  /** Processors by the quota of a container, 0.5 for half of one; undefined for no quota. */
  readonly quotaProcessors: number | undefined;
  readonly quotaBytes: number | undefined;
}

/** Resources that this process may use. Node.js 20 knows nothing of quotas of processors, newer ones of most. */
export function thisMachine(): Machine {
  const { processors, memoryBytes } = readCgroupLimits();
  return {
    processors: availableParallelism(),
    totalBytes: totalmem(),
    constrainedBytes: process.constrainedMemory(),
    quotaProcessors: processors,
    quotaBytes: memoryBytes,
  };
}

/** The threads that can run at once: the processors, or the whole part of a quota of them; at least 1. */
export function availableThreads({ processors, quotaProcessors }: Machine = thisMachine()): number {
  return Math.max(1, Math.min(processors, Math.floor(quotaProcessors ?? Number.POSITIVE_INFINITY)));
}

/** The bytes of memory that the process may use: the machine's, or less in a container. */
export function availableMemoryBytes(machine: Machine = thisMachine()): number {
  const { totalBytes, constrainedBytes, quotaBytes } = machine;
  return Math.min(totalBytes, constrainedBytes || totalBytes, quotaBytes ?? totalBytes);
}
