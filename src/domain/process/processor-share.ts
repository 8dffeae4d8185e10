import { readFileSync } from 'node:fs';

/** What a thread had of the processors, and how long it waited for one, nanoseconds since it began. */
interface ThreadTimes {
  readonly ran: number;
  readonly waited: number;
}

/** Less than this cannot be told from a tick of the kernel's clock, nanoseconds. */
const LEAST_NS = 5e6;

/**
 * Measures how much of the time in which the calling thread had something to do it had a processor, 0 to 1.
 * @returns to be called at the end of the stretch; it answers 1 where the system does not tell, or there is too little
 */
export function measureProcessorShare(): () => number {
  const before = threadTimes();
  return () => {
    const after = threadTimes();
    if (before === undefined || after === undefined) return 1;
    const ran = after.ran - before.ran;
    const wanted = ran + after.waited - before.waited;
    return wanted < LEAST_NS ? 1 : ran / wanted;
  };
}

/** Linux: Documentation/scheduler/sched-stats. */
function threadTimes(): ThreadTimes | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const [ran, waited] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ').map(Number);
    return Number.isFinite(ran) && Number.isFinite(waited) ? { ran: ran!, waited: waited! } : undefined;
  } catch {
    return undefined;
  }
}
