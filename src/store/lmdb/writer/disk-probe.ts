import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DataTables } from '../data-tables.ts';

const PROBE_FILE = 'probe.tmp';
const PROBE_KEY = Buffer.from('probe');
const BYTES_MIN = 1024 * 1024;
const BYTES_MAX = 64 * 1024 * 1024;
const ENTRY_BYTES_MAX = 256 * 1024;

/**
 * Finds out whether a store that has failed to write can write again, without the noise of a failing transaction: a file
 * of twice the size goes first, then an entry that is taken out again.
 * @param bytes of what could not be written
 * @param transact runs an action in a transaction of the writer
 * @throws Error of the file system or the engine while it cannot
 */
export function probeDisk(
  { engine, meta }: Pick<DataTables, 'engine' | 'meta'>,
  bytes: number,
  transact: (action: () => void) => void,
): void {
  const file = join(engine.path, PROBE_FILE);
  const size = Math.min(BYTES_MAX, Math.max(BYTES_MIN, bytes * 2));
  try {
    writeFileSync(file, new Uint8Array(size));
  } finally {
    rmSync(file, { force: true });
  }
  transact(() => meta.put(PROBE_KEY, new Uint8Array(Math.min(size, ENTRY_BYTES_MAX))));
  transact(() => meta.remove(PROBE_KEY));
}
