import { randomUUID } from 'node:crypto';
import type { ImportReport } from '../domain/admin-schemas.ts';
import { FurzeError } from '../domain/errors.ts';
import { OperatorError } from '../domain/operator-error.ts';
import type { DataStore, WriteCommand } from '../store/data-store.ts';
import { Announcer } from './announcer.ts';
import type { Kind } from './columns.ts';

/** Takes batches of records in the form of the API. */
export interface Target {
  /** What tells it from another target. */
  readonly name: string;
  /**
   * Stores a batch, all of it or nothing.
   * @param json an array of records
   * @returns how many records are new or were overwritten
   * @throws FurzeError INVALID_BODY when a record is not valid, naming some of those
   * @throws OperatorError when nothing can be stored
   */
  write(kind: Kind, json: Uint8Array<ArrayBuffer>): Promise<number>;
  /** Tells a service about the import of a file; absent where none runs. */
  announce?(about: Pick<ImportReport, 'File' | 'Kind' | 'Total'>): Announcer;
}

/** Writes into a store of this process. @param overwrites whether feedback that is there already is replaced */
export function storeTarget(data: DataStore, name: string, overwrites: boolean): Target {
  const command = (kind: Kind, json: Uint8Array<ArrayBuffer>): WriteCommand => {
    const batch = { json, single: false };
    if (kind === 'users') return { kind: 'putUsers', batch };
    if (kind === 'items') return { kind: 'putItems', batch };
    return { kind: 'putFeedback', overwrite: overwrites, batch };
  };
  return {
    name,
    async write(kind, json) {
      try {
        return (await data.write(command(kind, json))).rowAffected;
      } catch (error) {
        if (error instanceof FurzeError && error.code !== 'INVALID_BODY')
          throw new OperatorError(error.message);
        throw error;
      }
    },
  };
}

/** Pauses before a request that a server was too busy for is sent again, milliseconds. */
const RETRY_MS = [500, 1000, 2000, 4000, 8000, 16_000];

/** Sends to a running server. @param url without a path @param apiKey empty for none */
export function httpTarget(url: string, apiKey: string, overwrites: boolean): Target {
  const base = url.replace(/\/+$/, '');
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  if (apiKey !== '') headers['X-API-Key'] = apiKey;
  const send = async (kind: Kind, json: Uint8Array<ArrayBuffer>, tries: number): Promise<number> => {
    const method = kind === 'feedback' && overwrites ? 'PUT' : 'POST';
    let response: Response;
    try {
      response = await fetch(`${base}/api/${kind}`, { method, headers, body: json });
    } catch (error) {
      throw new OperatorError(`${base} does not answer (${causeOf(error)}); is the service running there?`);
    }
    if (response.ok) return ((await response.json()) as { RowAffected: number }).RowAffected;
    const text = await response.text();
    if (response.status === 503 && tries < RETRY_MS.length) {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS[tries]));
      return send(kind, json, tries + 1);
    }
    if (response.status === 401)
      throw new OperatorError(`${base} asks for its key; set FURZE_SERVER_API_KEY.`);
    throw problemOf(base, response.status, text);
  };
  return {
    name: base,
    write: (kind, json) => send(kind, json, 0),
    announce(about) {
      const path = `${base}/api/admin/import/${randomUUID()}`;
      const put = (report: ImportReport) =>
        fetch(path, { method: 'PUT', headers, body: JSON.stringify(report) });
      return new Announcer(put, about);
    },
  };
}

function causeOf(error: unknown): string {
  const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException };
  return cause?.code ?? cause?.message ?? message;
}

function problemOf(base: string, status: number, text: string): Error {
  let detail = text.slice(0, 500);
  try {
    const body = JSON.parse(text) as {
      code?: string;
      detail?: string;
      errors?: { path: string; message: string }[];
    };
    detail = body.detail ?? detail;
    if (status === 400 && body.errors !== undefined)
      return new FurzeError('INVALID_BODY', detail, body.errors);
  } catch {
    // A server that answers with plain text.
  }
  if (status === 400) return new FurzeError('INVALID_BODY', detail);
  return new OperatorError(`${base} answered ${status}: ${detail}`);
}
