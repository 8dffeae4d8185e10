/** Seconds by the clock, and of the processor by all threads together, which other work on the machine moves less. */
export interface Times {
  readonly seconds: number;
  readonly cpu: number;
}

/** One row of the table: two ways to do the same work, each of which tells its seconds. */
export interface ModelCase {
  readonly name: string;
  /** The greatest ratio of our time to the reference's that meets the aim. */
  readonly aim: string;
  readonly against: string;
  readonly ours: () => Promise<Times>;
  /** Absent where the reference is not installed. */
  readonly reference?: (() => Promise<Times>) | undefined;
  /** Run once, the reference first, without warming up. */
  readonly single?: boolean;
  readonly note?: () => string | undefined;
  readonly close: () => Promise<void>;
}

export async function timed(work: () => Promise<void>): Promise<Times> {
  const start = process.hrtime.bigint();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { seconds: Number(process.hrtime.bigint() - start) / 1e9, cpu: (user + system) / 1e6 };
}

export function sumTimes(a: Times, b: Times): Times {
  return { seconds: a.seconds + b.seconds, cpu: a.cpu + b.cpu };
}
