import { rmSync, statSync, writeFileSync } from 'node:fs';
import { endianness } from 'node:os';
import { join } from 'node:path';
import * as lmdb from 'lmdb';
import { type Database, open, type RootDatabase } from 'lmdb';
import { messageOf } from '../../../domain/furze-error.ts';
import { OperatorError } from '../../../domain/operator-error.ts';
import { makeFolder } from '../../../platform/files/make-folder.ts';
import type { TableStats } from '../../data-store.ts';
import { batchUnlessGivenUp, isGivenUp, refuseGivenUp } from './given-up-error.ts';
import { showNewestCommit, staysHidden } from './hidden-commits.ts';
import { UnflushedError } from './unflushed-error.ts';
import { shortenWriteErrors } from './write-error-text.ts';

/** A database of plain bytes: keys in byte order, values as they are. */
export type Table = Database<Uint8Array, Uint8Array>;

/**
 * Address space reserved for one environment when nothing else is asked for: the first of these that the platform grants,
 * or twice the file where that is more. It takes no memory, the file grows with its content only, and a file that
 * outgrows it is mapped anew with twice the size while it is in use (lmdb-js does that by itself).
 */
const MAP_BYTES = [1024, 128, 16].map((gib) => gib * 1024 ** 3);
const MAP_GROWTH = 2;

/** Other processes may open the folder again and again. */
const SHOW_ATTEMPTS = 10;

/** Out of memory, or of address space. */
const ENOMEM = 12;

export interface EngineOptions {
  /** The folder exists and is only read. */
  readonly readOnly?: boolean;
  /** Bytes of address space to begin with; chosen by the file's size when absent. */
  readonly mapBytes?: number | undefined;
  /** Free pages are used again before they are flushed: the file stays small, and is worth nothing once the machine has gone down. */
  readonly isScratch?: boolean;
  /** False where each queued write is to commit by itself, and not with all of its turn; true when absent. */
  readonly batchesTurns?: boolean;
}

/** Transaction flags of lmdb-js: abortable, committed at return, visible to others before the flush (overlapping sync). */
const COMMIT_THEN_FLUSH = 1 | 2 | 0x10000;

/** Parts that the package's typings leave out: the flush of what is committed, on another thread or, where it is not flushed yet, on this one. */
interface Flushable {
  sync(callback: (error?: Error | null) => void): void;
  readonly env: { sync(): void; close(): void };
}

/** And every database that was ever opened, by path and name, for as long as it is in here. */
const { allDbs } = lmdb as unknown as { readonly allDbs: Map<string, { readonly env: unknown }> };

/** And the number of the write transaction that is open, and that of the last one in the file. */
interface TransactionTeller {
  getWriteTxnId(): number;
  readonly env: { info(): { readonly lastTxnId: number } };
}

/**
 * One LMDB environment: a folder, its named tables, and the few verbs the stores need. All threads of the process that
 * open the same folder share one memory map.
 *
 * A commit is visible first and then flushed by the thread that made it (lmdb-js's overlapping sync), before `transact` returns;
 * one that was queued is flushed apart. The pages of the last flushed state are not used again before the next flush, so a power loss falls back
 * to that state and never to a broken file.
 */
export class Engine {
  readonly path: string;
  /** As it was opened, to open its successor alike. */
  readonly options: EngineOptions;
  private readonly root: RootDatabase<Uint8Array, Uint8Array>;
  /** Number of the lock file when it was opened; another one belongs to another data file. */
  private readonly lockFile: number | undefined;
  /** Device and number of the data file. */
  private readonly dataFile: string | undefined;
  /** Copies that are being made. */
  private readonly copies = new Set<Promise<void>>();
  /** The latest queued commit, and whether it failed: lmdb-js then waits for ever for its flush. */
  private latest: Promise<unknown> = Promise.resolve();
  private hasFailed = false;

  /** Opens the folder, and makes it when it does not exist and is not only read. */
  constructor(path: string, tablesMax: number, options: EngineOptions = {}) {
    if (endianness() !== 'LE') throw new Error('The LMDB store needs a little-endian machine');
    const { readOnly = false, mapBytes, isScratch = false, batchesTurns = true } = options;
    shortenWriteErrors();
    if (!readOnly) makeFolder(path);
    this.path = path;
    this.options = options;
    // Before it is opened: should it be replaced meanwhile, it counts as replaced once more.
    const lockFile = fileNumber(join(path, LOCK_FILE));
    if (lockFile === undefined) assureRoom(path);
    this.root = openFirst(mapBytes === undefined ? mapSizes(path) : [mapBytes], (mapSize) =>
      open<Uint8Array, Uint8Array>({
        path,
        noSubdir: false,
        maxDbs: tablesMax,
        mapSize,
        encoding: 'binary',
        keyEncoding: 'binary',
        readOnly,
        noSync: isScratch,
        // The commit of a turn has a promise that nobody can catch, so that a full disk ends the process.
        eventTurnBatching: batchesTurns,
      }),
    );
    this.lockFile = lockFile ?? fileNumber(join(path, LOCK_FILE));
    this.dataFile = dataFileOf(path);
  }

  /** False once the file that is open is no longer where it was: what is written to it is found by nobody. */
  get isInPlace(): boolean {
    return dataFileOf(this.path) === this.dataFile;
  }

  /** True once another file has taken the place of the one that is open: a live compaction has ended. */
  get isReplaced(): boolean {
    return fileNumber(join(this.path, LOCK_FILE)) !== this.lockFile;
  }

  /** True where the file has tables and none of these: another program has made it. */
  isForeign(tables: readonly string[]): boolean {
    const names = [...this.root.getKeys()].map((name) => Buffer.from(name).toString().replace(/\0$/, ''));
    return names.length > 0 && !names.some((name) => tables.includes(name));
  }

  table(name: string): Table {
    return this.root.openDB<Uint8Array, Uint8Array>(name, { encoding: 'binary', keyEncoding: 'binary' });
  }

  /**
   * Runs `action` in a write transaction of this thread and commits to the disk (a scratch environment: in memory); an
   * exception leaves nothing of it.
   * @throws Error of the engine when the last commit stays hidden, see `showNewestCommit`; `action` is not run
   * @throws UnflushedError when everybody sees the commit and the disk does not have it
   */
  transact<T>(action: () => T): T {
    for (let attempt = 1; attempt <= SHOW_ATTEMPTS; attempt++) {
      let result: T | undefined;
      let isHidden = false;
      let own = Number.POSITIVE_INFINITY;
      try {
        // lmdb-js would keep the transaction open for a promise, which `put` returns even where it has already written.
        this.root.transactionSync(() => {
          own = this.transactionId;
          isHidden = own <= this.lastCommitted;
          if (!isHidden) result = action();
        }, COMMIT_THEN_FLUSH);
        // Does nothing but where the mark of the flush could not be written, which the commit keeps to itself.
        if (!isHidden && this.options.isScratch !== true) (this.root as unknown as Flushable).env.sync();
      } catch (error) {
        if (!isHidden && this.lastCommitted >= own) throw new UnflushedError(this.path, error);
        throw error;
      }
      if (!isHidden) return result as T;
      showNewestCommit(this.path);
    }
    throw staysHidden(this.path);
  }

  /** Number of the write transaction that is open: one more than that of the last one that changed anything. */
  get transactionId(): number {
    return (this.root as unknown as TransactionTeller).getWriteTxnId();
  }

  /** Number of the last transaction in the file, whether or not others are shown it. */
  private get lastCommitted(): number {
    return (this.root as unknown as TransactionTeller).env.info().lastTxnId;
  }

  /** Queues the writes that `action` makes as one transaction, carried out off this thread; resolves at the commit. */
  async enqueue(action: () => void): Promise<void> {
    try {
      await (this.latest = batchUnlessGivenUp(this.root, this.path, action));
      this.hasFailed = false;
    } catch (error) {
      this.hasFailed = 'commitError' in (error as object) || isGivenUp(error);
      throw error;
    }
  }

  /** Resolves when everything that was queued or is in a scratch environment is on the disk. */
  flush(): Promise<void> {
    return new Promise((resolve, reject) => {
      (this.root as unknown as Flushable).sync((error) => (error ? reject(error) : resolve()));
    });
  }

  /** @throws GivenUpError */
  ping(): void {
    refuseGivenUp(this.root, this.path);
  }

  /** Makes the next read of this thread see the newest commit. */
  renewReads(): void {
    this.root.resetReadTxn();
  }

  /** Writes a copy with all free space left out into the folder `path`, which must exist. */
  async copyCompact(path: string): Promise<void> {
    const copy = this.root.backup(path, true);
    this.copies.add(copy);
    try {
      await copy;
    } catch (error) {
      throw /^No space left/.test(messageOf(error)) ? noRoomIn(path) : error;
    } finally {
      this.copies.delete(copy);
    }
  }

  /** Bytes of the environment's file on disk. */
  get bytes(): number {
    return statSync(join(this.path, DATA_FILE)).size;
  }

  /** Waits for the copies that are being made and the commits that are queued, then closes. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.copies, this.latest]);
    const closed = this.root.close();
    const { env } = this.root as unknown as Flushable;
    if (this.hasFailed) env.close();
    else await closed;
    for (const [name, database] of allDbs) if (database.env === env) allDbs.delete(name);
  }
}

/**
 * Opens an environment with tables of this program, or one without any.
 * @throws OperatorError for the file of another program; nothing is written to it
 */
export function openEngine(
  path: string,
  tablesMax: number,
  tables: readonly string[],
  options?: EngineOptions,
): Engine {
  const engine = new Engine(path, tablesMax, options);
  if (!engine.isForeign(tables)) return engine;
  void engine.close();
  throw new OperatorError(
    `${join(path, DATA_FILE)} is a file of another program, though LMDB has made it: name another folder.`,
  );
}

/**
 * LMDB maps its lock file before that has room, and a disk without any would end the process by a signal.
 * @throws OperatorError where the disk is full
 */
function assureRoom(path: string): void {
  const file = join(path, 'room.tmp');
  try {
    writeFileSync(file, new Uint8Array(LOCK_BYTES));
  } catch (error) {
    if (/^(ENOSPC|EDQUOT)$/.test((error as NodeJS.ErrnoException).code ?? '')) throw noRoomIn(path);
  } finally {
    rmSync(file, { force: true });
  }
}

function noRoomIn(path: string): OperatorError {
  return new OperatorError(`${path} ${NO_ROOM}: make room, and begin again.`);
}

/** Undefined where the way to the file is gone or closed. */
function fileNumber(path: string): number | undefined {
  try {
    return statSync(path).ino;
  } catch {
    return undefined;
  }
}

/** Identity of the data file in a folder; undefined where the way to it is gone or closed. */
function dataFileOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(join(path, DATA_FILE));
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/** Words of each error that a full disk causes. */
export const NO_ROOM = 'has no room left on its disk';
/** LMDB's names of the two files in an environment's folder. */
export const DATA_FILE = 'data.mdb';
export const LOCK_FILE = 'lock.mdb';
/** Room for the lock file, and for the first pages of the data. */
const LOCK_BYTES = 65_536;

/** Sizes to try, best first. */
function mapSizes(path: string): number[] {
  const bytes = statSync(join(path, DATA_FILE), { throwIfNoEntry: false })?.size ?? 0;
  return MAP_BYTES.map((size) => Math.max(size, bytes * MAP_GROWTH));
}

/** Opens with the first size that the platform grants. */
function openFirst<T>(sizes: readonly number[], openWith: (mapSize: number) => T): T {
  for (const [at, size] of sizes.entries()) {
    try {
      return openWith(size);
    } catch (error) {
      if ((error as { code?: unknown }).code !== ENOMEM || at === sizes.length - 1) throw error;
    }
  }
  throw new Error('no size to open with');
}

export function countEntries(table: Table): number {
  return (table.getStats() as { entryCount: number }).entryCount;
}

/**
 * Reads a value without a copy of one's own.
 * @returns a view that is valid only until the next read or write on this thread
 */
export function readBytes(table: Table, key: Uint8Array): Uint8Array | undefined {
  return table.getBinaryFast(key);
}

const NO_WORDS = new Uint32Array(0);

/**
 * Reads a value as little-endian 32-bit words; empty when there is none.
 * @returns a view that is valid only until the next read or write on this thread
 */
export function readWords(table: Table, key: Uint8Array): Uint32Array {
  const bytes = table.getBinaryFast(key);
  if (bytes === undefined) return NO_WORDS;
  // The length of a reused buffer is not its view's own, and a value straight from the map may lie at any address.
  const { length } = bytes;
  if (bytes.byteOffset % 4 === 0) return new Uint32Array(bytes.buffer, bytes.byteOffset, length >> 2);
  return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + length));
}

/** The first key at or after `start`. The bytes are the caller's own. */
export function firstKey(table: Table, start: Uint8Array): Uint8Array | undefined {
  for (const key of table.getKeys({ start, limit: 1 })) return key;
  return undefined;
}

/** The last key at or before `start`. The bytes are the caller's own. */
export function lastKey(table: Table, start: Uint8Array): Uint8Array | undefined {
  for (const key of table.getKeys({ start, reverse: true, limit: 1 })) return key;
  return undefined;
}

/** Entries from `start` on, in order. */
export function entriesFrom(
  table: Table,
  start: Uint8Array,
  limit: number,
  exclusive = false,
): Iterable<{ key: Uint8Array; value: Uint8Array }> {
  return table.getRange({ start, limit, exclusiveStart: exclusive });
}

/** No key sorts before it. */
export const FIRST_KEY = new Uint8Array([0]);

/** All entries of a table, in order. */
export function allEntries(table: Table): Iterable<{ key: Uint8Array; value: Uint8Array }> {
  return table.getRange({ start: FIRST_KEY });
}

/** Options of `put` that the package's typings leave out. */
interface Appendable {
  put(key: Uint8Array, value: Uint8Array, options: { readonly append: true }): unknown;
}

/** Writes an entry whose key sorts behind all others of the table: pages are filled to their end. */
export function appendEntry(table: Table, key: Uint8Array, value: Uint8Array): void {
  (table as unknown as Appendable).put(key, value, { append: true });
}

interface TableFigures {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

/** Bytes of the pages that a table takes, without the environment's free pages. */
export function tableBytes(table: Table): number {
  const { pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages } =
    table.getStats() as TableFigures;
  return (treeBranchPageCount + treeLeafPageCount + overflowPages) * pageSize;
}

export function describeTables(tables: Readonly<Record<string, Table>>): TableStats[] {
  return Object.entries(tables).map(([name, table]) => ({
    name,
    entries: countEntries(table),
    bytes: tableBytes(table),
  }));
}
