import type { Feedback } from '../../../domain/entities.ts';
import type { PlainError } from '../../../domain/furze-error.ts';
import type { CatalogueItem, ChangeSet, Compacted, WriteCommand, WriteResult } from '../../data-store.ts';
import type { PostgresDsn } from '../../dsn.ts';
import type { SyncMode, WriteRules } from '../../write-options.ts';
import type { Packed } from '../format/packed-records.ts';

export type { SyncMode, WriteRules } from '../../write-options.ts';

/** The worker data of the writer thread. */
export interface WriterOptions {
  readonly dataPath: string;
  readonly sync: SyncMode;
  readonly rules: WriteRules;
  /** Bytes of address space to begin with; chosen by the file's size when absent. */
  readonly mapBytes?: number | undefined;
  /** Shared database of a replica's folder. */
  readonly sharedDatabase?: PostgresDsn | undefined;
  /** True where the folder holds users once they are asked for. */
  readonly isPartial?: boolean | undefined;
  /** Of a replica: true where each read waits until it shows what was answered before. */
  readonly readsWait?: boolean | undefined;
}

/** From the store to the writer thread. `nowMs` is the time of arrival. */
export type ToWriter =
  | {
      readonly kind: 'write';
      readonly ticket: number;
      readonly nowMs: number;
      readonly command: WriteCommand;
    }
  /** Of a copy: look at once for what was committed elsewhere. */
  | { readonly kind: 'follow' }
  /** Of a copy that holds users once they are asked for: these are. */
  | {
      readonly kind: 'load';
      readonly ticket: number;
      readonly userIds: readonly string[];
      readonly userRows: readonly number[];
    }
  /** Rewrite the store without its free space. One rewriting is joined. */
  | { readonly kind: 'compact' }
  /** The answer to `replaced`: nobody on the thread that serves reads the old file any more. */
  | { readonly kind: 'followed' }
  | { readonly kind: 'close' };

export type Write = Extract<ToWriter, { kind: 'write' }>;

/** From the writer thread to the store. */
export type FromWriter =
  | { readonly kind: 'ready'; readonly nextTransaction: number }
  | {
      readonly kind: 'committed';
      readonly answers: readonly WriteAnswer[];
      readonly changes: readonly PlainChanges[];
      /** Number of the first transaction after this one that changes anything. */
      readonly nextTransaction: number;
      /** Of a copy: the commit up to which it shows all; absent when this is none. */
      readonly position?: number;
      /** Of a copy that holds some users: rows of those who are not known any more. */
      readonly forgotten?: readonly number[] | undefined;
    }
  /** Users that were asked for are here, as of what is committed; `known` is undefined when the database did not answer. */
  | {
      readonly kind: 'loaded';
      readonly tickets: readonly number[];
      readonly known: readonly number[] | undefined;
      readonly forgotten: readonly number[];
      readonly nextTransaction: number;
    }
  /** Writes fail for the time being, for a reason that no command is to blame for; undefined: they no longer do. */
  | { readonly kind: 'problem'; readonly problem: string | undefined; readonly trace: string | undefined }
  /** The thread writes no more and ends; when it is final, another one would do no better. */
  | { readonly kind: 'failed'; readonly reason: string; readonly trace: string; readonly isFinal: boolean }
  /** So many of the store's entries are rewritten. */
  | { readonly kind: 'compacting'; readonly done: number; readonly total: number }
  /** Another file has taken the place of the store's; nothing is written before `followed`. */
  | { readonly kind: 'replaced'; readonly nextTransaction: number }
  /** The compaction has ended; `error` says why when it did not come to its end. */
  | { readonly kind: 'compacted'; readonly result: Compacted | undefined; readonly error: string | undefined }
  | { readonly kind: 'closed' };

/** A result as it crosses threads. */
export interface PlainResult extends Omit<WriteResult, 'credited'> {
  readonly credited?: Packed<Feedback>;
}

export interface WriteAnswer {
  readonly ticket: number;
  readonly result: PlainResult | undefined;
  readonly error: PlainError | undefined;
  /** Text of an unforeseen error, for the log; never for the caller. */
  readonly trace: string | undefined;
}

/** Feedback columns without the class, which does not cross threads; each array has exactly the records. */
export interface PlainColumns {
  readonly userRows: Uint32Array;
  readonly itemRows: Uint32Array;
  readonly types: Uint16Array;
  readonly timesMs: Float64Array;
}

export interface PlainChanges extends Omit<ChangeSet, 'items' | 'added' | 'removed'> {
  readonly items: Packed<CatalogueItem>;
  /** Undefined for no records. */
  readonly added: PlainColumns | undefined;
  readonly removed: PlainColumns | undefined;
}
