/** The time now, in milliseconds since the Unix epoch. A parameter wherever time matters, so a test can fix it. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();
