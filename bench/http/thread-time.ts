import { openSync, readSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

/** A sleep so short that it only makes the kernel book the thread's time, milliseconds. */
const NAP_MS = 0.001;

/** Tells the processor time of the main thread, milliseconds; where the system does not tell it, the time by the clock. */
export function mainThreadClock(): () => number {
  if (process.platform !== 'linux') return () => performance.now();
  // The first number is the time spent on a processor, in nanoseconds (Documentation/scheduler/sched-stats); it is
  // brought up to date when the thread leaves the processor, and otherwise every few milliseconds.
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const text = Buffer.alloc(64);
  const never = new Int32Array(new SharedArrayBuffer(4));
  return () => {
    Atomics.wait(never, 0, 0, NAP_MS);
    readSync(file, text, 0, text.length, 0);
    return Number.parseInt(text.toString('latin1', 0, text.indexOf(0x20)), 10) / 1e6;
  };
}
