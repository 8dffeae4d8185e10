import { renameSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { groupDigits } from '../../../domain/group-digits.ts';
import { OperatorError } from '../../../domain/operator-error.ts';
import type { TemporaryFolder } from '../../../platform/files/temporary-folder.ts';
import type { Compacted } from '../../data-store.ts';
import { type DataTables, openDataTables, replaceTables, type TableName } from '../tables/data-tables.ts';
import {
  appendEntry,
  countEntries,
  DATA_FILE,
  describeTables,
  entriesFrom,
  FIRST_KEY,
  LOCK_FILE,
} from '../tables/engine.ts';
import { KeysChangedWhileCopying } from './keys-changed-while-copying.ts';
import { beginCopy, syncToDisk } from './unfinished-copies.ts';

/** Largest copy of a step: a few milliseconds. The last entry may be larger. */
const STEP_ENTRIES = 1000;
const STEP_BYTES = 512 * 1024;
/** Room that must be left on the disk beside the copy. */
const ROOM_SHARE = 1.2;
const ROOM_BYTES = 64 * 2 ** 20;
const TOLD_EVERY = 50;

/** Parts of the writing thread that a compaction uses. */
export interface CompactionParts {
  /** The tables that are open; they become those of the new file. */
  readonly tables: DataTables;
  /** Runs an action while nothing is written, after everything that was written is answered. */
  readonly exclusively: (action: () => Promise<void>) => Promise<void>;
  /** Tells that another file is in place; resolves when the thread that serves reads it. */
  readonly replaced: () => Promise<void>;
  readonly onProgress: (done: number, total: number) => void;
}

/** The file is another one and not all who must know do: nothing may be written to the old one any more. */
class HalfReplacedError extends Error {
  readonly isFinal = true;
}

/**
 * Rewrites a store without its free space while it is written and read. On the thread that writes, between two groups
 * of writes, a step at a time copies the entries in the order of their keys into a new file; a key that is written behind
 * that point is noted, and each step first brings those up to date. When all is copied, writing rests for as long as it
 * takes to copy what was written last, to flush, and to rename the new file to the old one's name. That is the moment at
 * which it counts: before it a crash leaves the old file as it is, after it the new one, which has everything.
 *
 * The lock file is renamed behind the data file. LMDB knows an open file by its lock file, so every thread that opens the
 * folder from then on shares the new file; those that have the old one open go over to it when they next begin to read.
 */
export class LiveCompaction {
  private readonly parts: CompactionParts;
  private readonly partial: TemporaryFolder;
  private readonly copy: DataTables;
  private readonly names: readonly TableName[];
  private readonly touched: KeysChangedWhileCopying;
  private readonly total: number;
  /** The table that is being copied, and the last key that was. */
  private at = 0;
  private last: Uint8Array | undefined;
  private done = 0;
  private cancelled = false;

  private constructor(parts: CompactionParts) {
    this.parts = parts;
    const { engine, ...tables } = parts.tables;
    this.names = Object.keys(tables) as TableName[];
    this.total = Object.values(tables).reduce((sum, table) => sum + countEntries(table), 0);
    this.partial = beginCopy(engine.path);
    this.copy = openDataTables(this.partial.path, engine.options);
    // What a new store begins with; everything is copied.
    this.copy.engine.transact(() => this.copy.meta.clearSync());
    this.touched = new KeysChangedWhileCopying(parts.tables, this.names, (name, key) =>
      this.isCopied(name, key),
    );
  }

  /** @throws OperatorError when there is no room for a copy */
  static begin(parts: CompactionParts): LiveCompaction {
    const { engine, ...tables } = parts.tables;
    const usedBytes = describeTables(tables).reduce((sum, table) => sum + table.bytes, 0);
    const { bavail, bsize } = statfsSync(engine.path);
    const neededBytes = usedBytes * ROOM_SHARE + ROOM_BYTES;
    if (bavail * bsize < neededBytes) {
      const show = (bytes: number) => `${groupDigits(Math.ceil(bytes / 2 ** 20))} MiB`;
      throw new OperatorError(
        `A compaction needs ${show(neededBytes)} on the disk of ${engine.path}, which has ${show(bavail * bsize)} left.`,
      );
    }
    return new LiveCompaction(parts);
  }

  /** Gives up at the next step; does nothing once the files are exchanged. */
  cancel(): void {
    this.cancelled = true;
  }

  /**
   * Copies and exchanges the files.
   * @throws Error when it is given up or fails; the store is as it was, unless the error says that it is final
   */
  async run(): Promise<Compacted> {
    const { tables, exclusively } = this.parts;
    const bytesBefore = tables.engine.bytes;
    try {
      await this.copyAll();
      await exclusively(() => this.exchange());
    } finally {
      this.touched.end();
      await this.copy.engine.close();
      this.partial.remove();
    }
    return { bytesBefore, bytesAfter: tables.engine.bytes };
  }

  private async copyAll(): Promise<void> {
    for (let step = 0; this.at < this.names.length; step++) {
      this.step();
      if (step % TOLD_EVERY === 0) this.parts.onProgress(this.done, this.total);
      // Writes have their turn.
      await nextTurn();
      if (this.cancelled) throw new Error('it was given up');
    }
  }

  /** Brings the copy up to date where it is made, and goes on with it. */
  private step(): void {
    this.parts.tables.engine.renewReads();
    this.copy.engine.transact(() => {
      this.update();
      this.copyOn();
    });
  }

  private update(): void {
    for (const [name, keys] of this.touched.take()) {
      for (const text of keys) {
        const key = Buffer.from(text, 'latin1');
        const value = this.parts.tables[name].getBinary(key);
        if (value === undefined) this.copy[name].remove(key);
        else this.copy[name].put(key, value);
      }
    }
  }

  private copyOn(): void {
    const name = this.names[this.at]!;
    const start = this.last ?? FIRST_KEY;
    const entries = entriesFrom(this.parts.tables[name], start, STEP_ENTRIES, this.last !== undefined);
    let bytes = 0;
    let count = 0;
    for (const { key, value } of entries) {
      appendEntry(this.copy[name], key, value);
      this.last = Uint8Array.from(key);
      bytes += key.length + value.length;
      count++;
      if (bytes >= STEP_BYTES) break;
    }
    this.done += count;
    if (bytes < STEP_BYTES && count < STEP_ENTRIES) {
      this.at++;
      this.last = undefined;
    }
  }

  /** True for a key that a step has passed: the copy must be told of what becomes of it. */
  private isCopied(name: TableName, key: Uint8Array): boolean {
    const at = this.names.indexOf(name);
    if (at !== this.at) return at < this.at;
    return this.last !== undefined && Buffer.compare(key, this.last) <= 0;
  }

  /** While nothing is written: makes the copy complete and durable, and puts it in place. */
  private async exchange(): Promise<void> {
    const { tables, replaced } = this.parts;
    const { path, options } = tables.engine;
    if (this.cancelled) throw new Error('it was given up');
    tables.engine.renewReads();
    this.copy.engine.transact(() => this.update());
    syncToDisk(join(this.partial.path, DATA_FILE));
    for (const name of this.names) {
      const [entries, copied] = [countEntries(tables[name]), countEntries(this.copy[name])];
      if (entries !== copied) throw new Error(`the copy has ${copied} of ${entries} entries of ${name}`);
    }
    renameSync(join(this.partial.path, DATA_FILE), join(path, DATA_FILE));
    try {
      renameSync(join(this.partial.path, LOCK_FILE), join(path, LOCK_FILE));
      syncToDisk(path);
      this.touched.end();
      replaceTables(tables, openDataTables(path, options));
      await replaced();
    } catch (error) {
      throw new HalfReplacedError(
        `a new file of the data store is in place, but this process cannot go over to it: ${(error as Error).message}`,
      );
    }
  }
}
