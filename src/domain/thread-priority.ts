import { constants, setPriority } from 'node:os';

const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority;

/**
 * Lets the thread that answers requests run before the calling one, and a writing thread before a training one: on
 * two cores a request must never wait for a batch or a fit. Linux alone has priorities by thread; elsewhere a
 * priority is the process's, so nothing is changed.
 */
export function yieldToServing(work: 'writing' | 'training'): void {
  if (process.platform === 'linux') setPriority(work === 'writing' ? PRIORITY_BELOW_NORMAL : PRIORITY_LOW);
}
