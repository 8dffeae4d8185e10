import { type Clock, systemClock } from '../../domain/clock.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import { readPositiveKinds } from '../../domain/positive-feedback-types.ts';
import { overloaded } from '../../platform/concurrency/overload-error.ts';
import { TimeSlicedQueue } from '../../platform/concurrency/time-sliced-queue.ts';
import { limitRepeats } from '../../platform/log/limit-log-repeats.ts';
import type {
  ChangeListener,
  ChangeSet,
  Compacted,
  DataStore,
  WriteCommand,
  WriteResult,
} from '../data-store.ts';
import type { FolderLock } from '../lock/folder-lock.ts';
import { fromPlain, resultFromPlain } from './changes/change-log.ts';
import { beginRecent } from './changes/recent-feedback.ts';
import { type BackupStream, streamBackup } from './maintenance/backup.ts';
import { CompactionRequests } from './maintenance/compaction-requests.ts';
import { KeptKinds } from './reads/kept-kinds.ts';
import { LmdbDataReader } from './reads/lmdb-data-reader.ts';
import { type DataTables, openDataTables } from './tables/data-tables.ts';
import { GivenUpError, isGivenUp } from './tables/given-up-error.ts';
import {
  hasKinds,
  identityOf,
  keepKinds,
  markOpening,
  readOpenings,
  readReplicaOf,
} from './tables/meta-table.ts';
import type { FromWriter, ToWriter, WriteAnswer, WriterOptions } from './tables/writer-messages.ts';
import { WriterSupervisor } from './writer/writer-supervisor.ts';

/** Default limit on what waits for the writer, in bytes; more is answered OVERLOADED. */
const WAITING_BYTES_MAX = 256 * 1024 * 1024;
/** Bytes of a decoded record in that sum. */
const RECORD_BYTES = 256;
/** Bytes up to which copying a body costs less than handing its buffer over. */
const COPIED_BYTES_MAX = 8 * 1024;
/** Bytes of any command beside its body. */
const COMMAND_BYTES = 128;

/** Told of what an operator should see; `error` has the trace. */
export type TroubleLog = (message: string, error: unknown) => void;

export interface DataStoreOptions extends WriterOptions {
  readonly clock?: Clock;
  readonly onTrouble?: TroubleLog;
  /** Bytes of commands that may wait for the writer; one alone is always taken. */
  readonly waitingBytesMax?: number;
  /** Let go of once the store is closed. */
  readonly lock?: FolderLock;
  /** Pause before a writer that has died is started again. */
  readonly writerRestartMs?: number;
}

type Committed = Extract<FromWriter, { kind: 'committed' }>;
type Loaded = Extract<FromWriter, { kind: 'loaded' }>;

interface Pending {
  readonly bytes: number;
  readonly resolve: (result: WriteResult) => void;
  readonly reject: (error: FurzeError) => void;
}

/** The data store on LMDB: reads on the calling thread, writes through the writer thread. */
export class LmdbDataStore extends LmdbDataReader implements DataStore {
  /** See `LiveCompaction`; a copy whose writer is not LMDB's own has none. */
  readonly compact: DataStore['compact'];
  private readonly writer: WriterSupervisor;
  private readonly clock: Clock;
  private readonly onTrouble: TroubleLog;
  private readonly onFailedWrite: TroubleLog;
  private readonly pending = new Map<number, Pending>();
  private readonly listeners: ChangeListener[] = [];
  private readonly following = new TimeSlicedQueue();
  private readonly keptKinds = new KeptKinds();
  private readonly compactions = new CompactionRequests(() => this.writer.post({ kind: 'compact' }));
  private readonly waitingBytesMax: number;
  private readonly lock: FolderLock | undefined;
  private waitingBytes = 0;
  private lastTicket = 0;
  private closing = false;
  /** Why writes fail at the moment: the writer is gone, or says so itself. */
  private down: string | undefined;
  private problem: string | undefined;

  /**
   * @param entry path of the thread that writes, as `ownThread` takes it, when it is not LMDB's own
   * @throws OperatorError when a newer version wrote the folder
   */
  constructor(options: DataStoreOptions, entry?: string) {
    const {
      clock = systemClock,
      onTrouble = () => {},
      dataPath,
      sync,
      rules,
      mapBytes,
      sharedDatabase,
      isPartial,
      readsWait,
    } = options;
    super(openForWriting(options), rules.limits.pageBytesMax);
    this.local.keptKinds = this.keptKinds;
    this.waitingBytesMax = options.waitingBytesMax ?? WAITING_BYTES_MAX;
    this.lock = options.lock;
    this.clock = clock;
    this.onTrouble = onTrouble;
    this.onFailedWrite = limitRepeats(onTrouble);
    const events = {
      receive: (message: FromWriter) => this.receive(message),
      down: (reason: string, trace: unknown) => this.fail(reason, trace),
      up: () => {
        this.down = undefined;
        this.onTrouble('The thread that writes the data store is back', undefined);
      },
    };
    const writerOptions = { dataPath, sync, rules, mapBytes, sharedDatabase, isPartial, readsWait };
    this.compact = entry === undefined ? (onProgress) => this.rewrite(onProgress) : undefined;
    this.writer = new WriterSupervisor(writerOptions, events, options.writerRestartMs, entry);
  }

  write(command: WriteCommand): Promise<WriteResult> {
    if (this.closing || this.down !== undefined) return Promise.reject(unavailable());
    const bytes = sizeOf(command);
    if (this.waitingBytes > 0 && this.waitingBytes + bytes > this.waitingBytesMax) {
      return Promise.reject(overloaded('writes'));
    }
    const ticket = ++this.lastTicket;
    const { message, transfer } = toMessage(ticket, this.clock(), command);
    return new Promise((resolve, reject) => {
      this.pending.set(ticket, { bytes, resolve, reject });
      this.waitingBytes += bytes;
      this.writer.post(message, transfer);
    });
  }

  get identity(): string {
    return identityOf(this.tables);
  }

  /** See `readOpenings`. */
  get openings(): readonly string[] {
    return readOpenings(this.tables);
  }

  /** The same, but for copies of another store that of the other one: rows mean the same in all of them. */
  get historyIdentity(): string {
    return readReplicaOf(this.tables)?.identity ?? this.identity;
  }

  backup(): Promise<BackupStream> {
    return streamBackup(this.tables.engine);
  }

  onChange(listener: ChangeListener): void {
    this.listeners.push(listener);
  }

  async ping(): Promise<void> {
    const reason = this.down ?? this.problem;
    if (this.closing || reason !== undefined) throw unavailable(reason);
    await this.getStats();
  }

  /** Carries out the writes that wait, then closes. */
  override async close(): Promise<void> {
    if (!this.closing) {
      this.closing = true;
      this.writer.close();
    }
    await this.writer.ended;
    this.following.finish();
    await super.close();
    this.lock?.release();
  }

  /** Tells the writer of a copy what else it is to do. */
  protected post(message: Extract<ToWriter, { kind: 'follow' | 'load' }>): void {
    this.writer.post(message);
  }

  /** Called when reads of a copy show everything up to a commit. */
  protected noteReached(_position: number): void {}

  /** Called with rows of users as a copy that holds some of them comes to know them, or knows them no more. */
  protected noteKnown(_forgotten: readonly number[], _known: readonly number[]): void {}

  /** Called when reads show the users that were asked for, and what was committed before has been told. */
  protected noteLoaded(_message: Loaded): void {}

  /** Called when the writer is gone. */
  protected noteDown(): void {}

  private rewrite(onProgress?: (done: number, total: number) => void): Promise<Compacted> {
    if (this.closing || this.down !== undefined) return Promise.reject(unavailable());
    return this.compactions.join(onProgress);
  }

  private receive(message: FromWriter): void {
    if (message.kind === 'problem') {
      this.problem = message.problem;
      this.onTrouble(message.problem ?? 'The data store can write again', message.trace);
    }
    if (message.kind === 'replaced') {
      this.local.refresh();
      this.writer.post({ kind: 'followed' });
    }
    this.compactions.receive(message);
    if (message.kind !== 'committed' && message.kind !== 'loaded') return;
    // A client must find its own write with its next read.
    this.tables.engine.renewReads();
    const isLoaded = message.kind === 'loaded';
    const forgotten = message.forgotten ?? [];
    const known = isLoaded ? (message.known ?? []) : [];
    // Of users who are read again nothing else is told.
    for (const userRow of [...forgotten, ...known]) this.keptKinds.take(userRow);
    this.noteKnown(forgotten, known);
    this.following.add(this.follow(message));
  }

  /** Lets the listeners follow a commit, then answers the writes in it. */
  private *follow(message: Committed | Loaded): Generator<unknown> {
    if (message.kind === 'loaded') return this.noteLoaded(message);
    const { changes, answers, position } = message;
    for (const each of changes) yield* this.tell(fromPlain(each));
    if (position !== undefined) this.noteReached(position);
    for (const answer of answers) this.settle(answer);
  }

  private *tell(changes: ChangeSet): Generator<unknown> {
    yield* this.keptKinds.forget(changes);
    for (const listener of this.listeners) {
      try {
        yield* listener(changes) ?? [];
      } catch (error) {
        this.onTrouble('A listener of the data store failed', error);
      }
    }
  }

  private settle({ ticket, result, error, trace }: WriteAnswer): void {
    if (trace !== undefined) this.onFailedWrite('A write failed', trace);
    const pending = this.pending.get(ticket);
    if (pending === undefined) return;
    this.pending.delete(ticket);
    this.waitingBytes -= pending.bytes;
    if (error !== undefined) pending.reject(FurzeError.fromPlain(error));
    else pending.resolve(resultFromPlain(result!));
  }

  private fail(reason: string, trace: unknown): void {
    this.down = reason;
    this.problem = undefined;
    this.onTrouble(reason, trace);
    // What is committed is answered as such.
    this.following.finish();
    // Of what was committed last nothing may have been told.
    this.tables.engine.renewReads();
    this.keptKinds.clear();
    this.compactions.fail(unavailable());
    for (const { reject } of this.pending.values()) reject(unavailable());
    this.pending.clear();
    this.waitingBytes = 0;
    this.noteDown();
    if (!isGivenUp(reason)) return;
    // Nothing can be read any more, either. That nobody catches it ends the process, so that what watches over it starts it again.
    const error = new GivenUpError(this.tables.engine.path);
    setImmediate(() => {
      throw error;
    });
  }
}

/** The tables, with what the service counts as positive kept in them before anybody reads. */
function openForWriting({ dataPath, rules, mapBytes, isPartial = false }: WriterOptions): DataTables {
  const tables = openDataTables(dataPath, { mapBytes, isScratch: isPartial });
  identityOf(tables);
  markOpening(tables);
  const kinds = readPositiveKinds(rules.positiveFeedbackTypes);
  // First, so that a crash in between breaks off once too often rather than never.
  beginRecent(tables, !hasKinds(tables, kinds));
  keepKinds(tables, kinds);
  return tables;
}

/** Refuses writes; the log and the health report say why. */
function unavailable(reason = 'The data store takes no writes at the moment.'): FurzeError {
  return new FurzeError('STORE_UNAVAILABLE', reason);
}

function sizeOf(command: WriteCommand): number {
  if ('json' in command) return COMMAND_BYTES + command.json.length;
  if (!('batch' in command)) return COMMAND_BYTES;
  const { batch } = command;
  return COMMAND_BYTES + ('json' in batch ? batch.json.length : batch.records.length * RECORD_BYTES);
}

/** The message of a command. A body is handed over with its buffer where that is large and filled by it, else copied. */
function toMessage(
  ticket: number,
  nowMs: number,
  command: WriteCommand,
): { message: ToWriter; transfer: ArrayBuffer[] } {
  const write = { kind: 'write', ticket, nowMs } as const;
  if ('json' in command) {
    const json = ownBuffer(command.json);
    return { message: { ...write, command: { ...command, json } }, transfer: buffersOf(json) };
  }
  if ('batch' in command && 'json' in command.batch) {
    const json = ownBuffer(command.batch.json);
    const moved = { ...command, batch: { json, single: command.batch.single } } as WriteCommand;
    return { message: { ...write, command: moved }, transfer: buffersOf(json) };
  }
  return { message: { ...write, command }, transfer: [] };
}

function buffersOf(json: Uint8Array<ArrayBuffer>): ArrayBuffer[] {
  return json.byteLength > COPIED_BYTES_MAX ? [json.buffer] : [];
}

function ownBuffer(json: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return json.byteLength === json.buffer.byteLength ? json : Uint8Array.from(json);
}
