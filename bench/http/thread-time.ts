import { openSync, readSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

/** Tells the processor time of the main thread, milliseconds; where the system does not tell it, the time by the clock. */
export function mainThreadClock(): () => number {
  if (process.platform !== 'linux') return () => performance.now();
  // The first number is the time spent on a processor, in nanoseconds (Documentation/scheduler/sched-stats). By itself it
  // moves only when the thread leaves the processor and every few milliseconds; to ask for the usage of the process
  // brings that of the thread that asks up to date (thread_group_cputime in kernel/sched/cputime.c).
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const text = Buffer.alloc(64);
  return () => {
    process.cpuUsage();
    readSync(file, text, 0, text.length, 0);
    return Number.parseInt(text.toString('latin1', 0, text.indexOf(0x20)), 10) / 1e6;
  };
}
