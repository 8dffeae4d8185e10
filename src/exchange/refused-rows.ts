import { decodeFeedback, decodeItems, decodeUsers } from '../domain/decode-bodies.ts';
import type { Batch } from '../domain/entities.ts';
import { FurzeError } from '../domain/furze-error.ts';
import { DEFAULT_LIMITS } from '../domain/request-limits.ts';
import type { Kind } from './guess-columns.ts';

/** A row that is not stored, and why. */
export interface RefusedRow {
  readonly path: string;
  readonly line: number;
  readonly reason: string;
}

/** A record and where it stands in its file. */
export interface RecordLine {
  readonly line: number;
  readonly record: object;
}

/** The rows of a file that are refused: each is told, and the first ends the import unless bad rows are skipped. */
export class RefusedRows {
  private readonly options: RefusalOptions;
  private found = 0;

  constructor(options: RefusalOptions) {
    this.options = options;
  }

  get count(): number {
    return this.found;
  }

  /** True once a row was refused that the import may not go on after. */
  get endsImport(): boolean {
    return this.found > 0 && !this.options.skipsBad;
  }

  refuse(line: number, reason: string): void {
    this.found++;
    this.options.onRefused({ path: this.options.path, line, reason });
  }

  /** Refuses those that the API would refuse. @returns the others */
  keepGood(lines: readonly RecordLine[]): RecordLine[] {
    return lines.filter(({ line, record }) => {
      const fault = findFault(this.options.kind, record);
      if (fault !== undefined) this.refuse(line, fault);
      return fault === undefined;
    });
  }
}

interface RefusalOptions {
  readonly path: string;
  readonly kind: Kind;
  /** Goes on after refused rows; else the first one ends the import. */
  readonly skipsBad: boolean;
  readonly onRefused: (row: RefusedRow) => void;
}

/** Records in the form of the API as a request body. */
export function encodeBatch(records: readonly object[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(JSON.stringify(records), 'utf8'));
}

/** Why the API would refuse a record: the field and the reason; undefined when it would take it. */
function findFault(kind: Kind, record: object): string | undefined {
  const batch = { json: new Uint8Array(Buffer.from(JSON.stringify(record), 'utf8')), single: true };
  try {
    decodeAs(kind, batch);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/**
 * True when the API would take all the records.
 * @param isTyped their fields are known to have the right types, so that they need not go by way of JSON
 */
export function areValid(kind: Kind, records: readonly object[], isTyped = false): boolean {
  try {
    decodeAs(kind, isTyped ? { records: records as never[] } : { json: encodeBatch(records), single: false });
    return true;
  } catch (error) {
    if (error instanceof FurzeError) return false;
    throw error;
  }
}

function decodeAs(kind: Kind, batch: Batch<never>): void {
  if (kind === 'users') decodeUsers(batch, DEFAULT_LIMITS);
  else if (kind === 'items') decodeItems(batch, DEFAULT_LIMITS);
  else decodeFeedback(batch, DEFAULT_LIMITS, 0);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof FurzeError)) throw error;
  const place = error.places[0];
  return place === undefined ? error.message : `${place.path.split('/').at(-1)} ${place.message}`;
}
