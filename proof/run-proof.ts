import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** What a proof found: one line for people, and whether it holds. */
export interface Finding {
  readonly line: string;
  readonly holds: boolean;
}

/** A proof's command line: `--NAME N`, how much to try, and `--seed N`. */
export interface Effort {
  readonly amount: number;
  readonly seed: number;
  /** A folder of its own, removed at the end. */
  readonly folder: string;
}

/**
 * Runs a proof and ends the process with 0 when it holds and 1 when it does not.
 * @param name what is tried and how often, as in `rounds`
 */
export async function runProof(
  name: string,
  amount: number,
  prove: (effort: Effort) => Promise<Finding>,
): Promise<void> {
  const options = { [name]: { type: 'string' as const }, seed: { type: 'string' as const } };
  const { values } = parseArgs({ options });
  const folder = mkdtempSync(join(tmpdir(), 'furze-proof-'));
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  try {
    const { line, holds } = await prove({ amount: Number(values[name] ?? amount), seed, folder });
    console.log(`${holds ? 'HOLDS' : 'FAILED'} ${line} (seed ${seed})`);
    process.exitCode = holds ? 0 : 1;
  } catch (error) {
    console.log(`FAILED ${(error as Error).stack} (seed ${seed})`);
    process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  // What is left of the services that were tried, as an idle thread, is not waited for.
  process.exit();
}
