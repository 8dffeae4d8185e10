/** Positions of records, in their original order. */
export interface Split {
  readonly train: Uint32Array;
  readonly test: Uint32Array;
}

/**
 * The latest `share` of all records by time is held out: what a service meets, which trains on the past
 * and is asked about the future. Records of one time are kept in the order of the input.
 * @param share above 0 and below 1
 */
export function splitByTime(times: ArrayLike<number>, share: number): Split {
  const order = Uint32Array.from({ length: times.length }, (_, at) => at);
  order.sort((a, b) => times[a]! - times[b]! || a - b);
  const trainCount = times.length - Math.round(times.length * share);
  return { train: order.slice(0, trainCount).sort(), test: order.slice(trainCount).sort() };
}
