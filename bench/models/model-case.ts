/** One row of the table: two ways to do the same work, each of which tells its seconds. */
export interface ModelCase {
  readonly name: string;
  /** The greatest ratio of our time to the reference's that meets the aim. */
  readonly aim: string;
  readonly against: string;
  readonly ours: () => Promise<number>;
  /** Absent where the reference is not installed. */
  readonly reference?: (() => Promise<number>) | undefined;
  /** Run once, the reference first, without warming up. */
  readonly single?: boolean;
  readonly note?: () => string | undefined;
  readonly close: () => Promise<void>;
}

export async function timed(work: () => Promise<void>): Promise<number> {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) / 1e9;
}
