import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../../domain/furze-error.ts';
import type { DataTables } from '../tables/data-tables.ts';
import type { FromWriter } from '../tables/writer-messages.ts';
import { traceOf } from './check-writes.ts';
import { isFinal } from './own-transactions.ts';

/** Pause between two probes. */
const PROBE_MS = 300;
const PROBE_FILE = 'probe.tmp';
const PROBE_KEY = Buffer.from('probe');
const BYTES_MIN = 1024 * 1024;
const BYTES_MAX = 64 * 1024 * 1024;
const ENTRY_BYTES_MAX = 256 * 1024;

/** Questions that are answered while the disk is full. */
export interface FullDiskParts {
  /** Throws while as much as this cannot be written. */
  readonly probe: (bytes: number) => void;
  /** True once nothing is to be written any more, whatever room there is. */
  readonly isOver: () => boolean;
  /** Told after each probe, which may have taken a transaction. */
  readonly onProbed: () => void;
  /** Told when the disk takes writes again. */
  readonly onRoom: () => void;
  readonly post: (message: FromWriter) => void;
  readonly probeMs?: number | undefined;
}

/**
 * A disk that takes no more writes: the store says so, and counts as not ready, until as much can be written as could not be.
 * Writes that come meanwhile are tried, and refused one by one where they fail.
 */
export class FullDisk {
  private readonly parts: FullDiskParts;
  private isKnown = false;

  constructor(parts: FullDiskParts) {
    this.parts = parts;
  }

  /** True from a write that failed until as much can be written again. */
  get isFull(): boolean {
    return this.isKnown;
  }

  /** Says that the store cannot write, and asks again and again until it can. @param bytes of what could not be written */
  noteFailure(failure: unknown, bytes: number): void {
    const { probe, isOver, onProbed, onRoom, post, probeMs } = this.parts;
    if (this.isKnown) return;
    this.isKnown = true;
    const problem = `The data store cannot write to its disk: ${messageOf(failure)}.`;
    post({ kind: 'problem', problem, trace: traceOf(failure) });
    const timer = setInterval(() => {
      if (isOver()) return clearInterval(timer);
      try {
        probe(bytes);
      } catch (error) {
        if (isFinal(error)) throw error;
        return;
      } finally {
        onProbed();
      }
      clearInterval(timer);
      this.isKnown = false;
      post({ kind: 'problem', problem: undefined, trace: undefined });
      onRoom();
    }, probeMs ?? PROBE_MS);
    timer.unref();
  }
}

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
