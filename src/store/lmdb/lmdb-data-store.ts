import { Worker } from 'node:worker_threads';
import { type Clock, systemClock } from '../../domain/clock.ts';
import { FurzeError } from '../../domain/errors.ts';
import { threadEntry } from '../../domain/thread-entry.ts';
import type { ChangeSet, DataStore, WriteCommand, WriteResult } from '../data-store.ts';
import type { FolderLock } from '../folder-lock.ts';
import { fromPlain } from './change-log.ts';
import { LmdbDataReader } from './data-reader.ts';
import { openDataTables } from './data-tables.ts';
import type { FromWriter, ToWriter, WriteAnswer, WriterOptions } from './messages.ts';

/** What may wait for the writer by default, in bytes; more is answered OVERLOADED. */
const WAITING_BYTES_MAX = 256 * 1024 * 1024;
/** What a decoded record counts for in that sum. */
const RECORD_BYTES = 256;
/** What any command counts for beside its body. */
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
}

interface Pending {
  readonly bytes: number;
  readonly resolve: (result: WriteResult) => void;
  readonly reject: (error: FurzeError) => void;
}

/** The data store on LMDB: reads on the calling thread, writes through the writer thread. */
export class LmdbDataStore extends LmdbDataReader implements DataStore {
  private readonly worker: Worker;
  private readonly clock: Clock;
  private readonly onTrouble: TroubleLog;
  private readonly pending = new Map<number, Pending>();
  private readonly listeners: ((changes: ChangeSet) => void)[] = [];
  private readonly exited: Promise<void>;
  private readonly waitingBytesMax: number;
  private readonly lock: FolderLock | undefined;
  private waitingBytes = 0;
  private lastTicket = 0;
  private state: 'open' | 'closing' | 'dead' = 'open';

  /** @throws FurzeError STORE_UNAVAILABLE when a newer version wrote the folder */
  constructor(options: DataStoreOptions) {
    const { clock = systemClock, onTrouble = () => {}, dataPath, sync, rules } = options;
    super(openDataTables(dataPath), rules.limits.pageBytesMax);
    this.waitingBytesMax = options.waitingBytesMax ?? WAITING_BYTES_MAX;
    this.lock = options.lock;
    this.clock = clock;
    this.onTrouble = onTrouble;
    const { url, execArgv } = threadEntry(import.meta.url, './writer-thread');
    const workerData: WriterOptions = { dataPath, sync, rules };
    this.worker = new Worker(url, { workerData, execArgv, name: 'furze-writer' });
    this.worker.on('message', (message: FromWriter) => this.receive(message));
    this.worker.on('error', (error) => this.fail('The writer thread failed', error));
    this.exited = new Promise((resolve) => {
      this.worker.once('exit', () => {
        if (this.state === 'open') this.fail('The writer thread ended', undefined);
        resolve();
      });
    });
  }

  write(command: WriteCommand): Promise<WriteResult> {
    if (this.state !== 'open') return Promise.reject(unavailable());
    const bytes = sizeOf(command);
    if (this.waitingBytes > 0 && this.waitingBytes + bytes > this.waitingBytesMax) {
      return Promise.reject(new FurzeError('OVERLOADED', 'Too many writes are waiting; try again later.'));
    }
    const ticket = ++this.lastTicket;
    const { message, transfer } = toMessage(ticket, this.clock(), command);
    return new Promise((resolve, reject) => {
      this.pending.set(ticket, { bytes, resolve, reject });
      this.waitingBytes += bytes;
      this.worker.postMessage(message, transfer);
    });
  }

  onChange(listener: (changes: ChangeSet) => void): void {
    this.listeners.push(listener);
  }

  async ping(): Promise<void> {
    if (this.state !== 'open') throw unavailable();
    await this.getStats();
  }

  /** Carries out the writes that wait, then closes. */
  override async close(): Promise<void> {
    if (this.state === 'open') {
      this.state = 'closing';
      this.worker.postMessage({ kind: 'close' } satisfies ToWriter);
    }
    await this.exited;
    await super.close();
    this.lock?.release();
  }

  private receive(message: FromWriter): void {
    if (message.kind === 'trouble') this.onTrouble('The data store could not be flushed', message.trace);
    if (message.kind === 'failed') this.fail('The writer thread failed', message.trace);
    if (message.kind !== 'committed') return;
    // A client must find its own write with its next read.
    this.tables.engine.renewReads();
    for (const changes of message.changes) this.tell(fromPlain(changes));
    for (const answer of message.answers) this.settle(answer);
  }

  private tell(changes: ChangeSet): void {
    for (const listener of this.listeners) {
      try {
        listener(changes);
      } catch (error) {
        this.onTrouble('A listener of the data store failed', error);
      }
    }
  }

  private settle({ ticket, result, error, trace }: WriteAnswer): void {
    if (trace !== undefined) this.onTrouble('A write failed', trace);
    const pending = this.pending.get(ticket);
    if (pending === undefined) return;
    this.pending.delete(ticket);
    this.waitingBytes -= pending.bytes;
    if (error !== undefined) pending.reject(FurzeError.fromPlain(error));
    else pending.resolve(result!);
  }

  private fail(message: string, error: unknown): void {
    if (this.state === 'open') this.state = 'dead';
    this.onTrouble(message, error);
    for (const { reject } of this.pending.values()) reject(unavailable());
    this.pending.clear();
    this.waitingBytes = 0;
  }
}

function unavailable(): FurzeError {
  return new FurzeError('STORE_UNAVAILABLE', 'The data store takes no writes at the moment.');
}

function sizeOf(command: WriteCommand): number {
  if ('json' in command) return COMMAND_BYTES + command.json.length;
  if (!('batch' in command)) return COMMAND_BYTES;
  const { batch } = command;
  return COMMAND_BYTES + ('json' in batch ? batch.json.length : batch.records.length * RECORD_BYTES);
}

/** The message of a command. A body is handed over with its buffer where it fills it, else copied. */
function toMessage(
  ticket: number,
  nowMs: number,
  command: WriteCommand,
): { message: ToWriter; transfer: ArrayBuffer[] } {
  if ('json' in command) {
    const json = ownBuffer(command.json);
    return {
      message: { kind: 'write', ticket, nowMs, command: { ...command, json } },
      transfer: [json.buffer],
    };
  }
  if ('batch' in command && 'json' in command.batch) {
    const json = ownBuffer(command.batch.json);
    const moved = { ...command, batch: { json, single: command.batch.single } } as WriteCommand;
    return { message: { kind: 'write', ticket, nowMs, command: moved }, transfer: [json.buffer] };
  }
  return { message: { kind: 'write', ticket, nowMs, command }, transfer: [] };
}

function ownBuffer(json: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return json.byteLength === json.buffer.byteLength ? json : Uint8Array.from(json);
}
