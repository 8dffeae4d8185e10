import { constants, setPriority } from 'node:os';

const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW, PRIORITY_NORMAL } = constants.priority;

/** Role of a thread beside the one that answers requests; `full-priority` is for what a request waits for, and what is starved of a processor otherwise. */
export type Work = 'writing' | 'training' | 'full-priority';

const PRIORITIES: Readonly<Record<Work, number>> = {
  writing: PRIORITY_BELOW_NORMAL,
  training: PRIORITY_LOW,
  // As much of a processor as the thread that answers: each of the two gets half of it where both want all.
  'full-priority': PRIORITY_NORMAL,
};

/**
 * Lets the thread that answers requests run before the calling one, and a writing thread before a training one: on
 * two cores a request must never wait for a batch or a fit. Linux alone has priorities by thread; elsewhere a
 * priority is the process's, so nothing is changed. An ordinary user can only lower the priority of a thread: one that
 * is to have a higher one has to be another thread.
 */
export function yieldToServing(work: Work): void {
  if (process.platform === 'linux' && PRIORITIES[work] !== PRIORITY_NORMAL) setPriority(PRIORITIES[work]);
}
