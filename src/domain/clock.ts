/** The time now, in milliseconds since the Unix epoch. A parameter wherever time matters, so a test can fix it. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** Milliseconds since the process began, for how long something takes or rests: nobody sets it back or ahead. */
export const steadyClock: Clock = () => performance.now();

/**
 * The latest timestamp that is in effect now: clocks of nodes may differ, so feedback from a little ahead counts already.
 * @param clockErrorMs the most by which they differ
 */
export function effectiveUntil(nowMs: number, clockErrorMs: number): number {
  return nowMs + clockErrorMs;
}
