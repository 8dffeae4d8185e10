import { readFileSync } from 'node:fs';

/** Time that a thread ran, and that it waited for a processor, milliseconds. */
export interface ProcessorTimes {
  readonly ranMs: number;
  /** The time in which it ran or waited for a processor. */
  readonly wantedMs: number;
}

const UNKNOWN: ProcessorTimes = { ranMs: 0, wantedMs: 0 };

/**
 * Measures what the calling thread has of the processors from now on.
 * @returns to be called at the end of the stretch; both times are 0 where the system does not tell
 */
export function measureProcessorTimes(): () => ProcessorTimes {
  const before = threadTimes();
  return () => {
    const after = threadTimes();
    if (before === undefined || after === undefined) return UNKNOWN;
    return { ranMs: after.ranMs - before.ranMs, wantedMs: after.wantedMs - before.wantedMs };
  };
}

/** Of the thread since it began. Linux: Documentation/scheduler/sched-stats. */
function threadTimes(): ProcessorTimes | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const [ranNs, waitedNs] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ').map(Number);
    if (!Number.isFinite(ranNs) || !Number.isFinite(waitedNs)) return undefined;
    return { ranMs: ranNs! / 1e6, wantedMs: (ranNs! + waitedNs!) / 1e6 };
  } catch {
    return undefined;
  }
}
