import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ImportReport } from '../domain/admin-schemas.ts';
import type { Feedback } from '../domain/entities.ts';
import { FurzeError } from '../domain/furze-error.ts';
import { OperatorError } from '../domain/operator-error.ts';
import type { DataStore, WriteCommand } from '../store/data-store.ts';
import type { BulkImport, FinishOptions } from '../store/open/open-store.ts';
import type { Kind } from './guess-columns.ts';
import { ImportReports } from './import-reports.ts';
import type { WriteVectors } from './import-vectors.ts';
import { readProblem, type ServiceClient } from './service-client.ts';
import { BatchTooLarge, SmallerBatches } from './smaller-batches.ts';

/** Takes batches of records in the form of the API. */
export interface Target {
  /** The name that tells it from another target. */
  readonly name: string;
  /**
   * Stores a batch, all of it or nothing; of what a service takes in parts alone, those before one that it refuses.
   * @param json an array of records
   * @returns how many records are new or were overwritten
   * @throws FurzeError INVALID_BODY when a record is not valid, naming some of those
   * @throws OperatorError when nothing can be stored
   */
  write(kind: Kind, json: Uint8Array<ArrayBuffer>): Promise<number>;
  /** The same of feedback whose fields have the right types, which need not go by way of JSON; absent where it must. */
  writeFeedback?(records: readonly Feedback[]): Promise<number>;
  /** True where items are stored, which those that feedback tells of would replace; absent where nobody knows. */
  hasItems?(): Promise<boolean>;
  /** Read feedback that positive feedback has taken the place of so far; undefined where nobody tells. */
  readonly replacedReads?: number;
  /** Tells a service about the import of a file; absent where none runs. */
  announce?(about: Pick<ImportReport, 'File' | 'Kind' | 'Total'>): ImportReports;
}

/** Takes the feedback of many files, and stores all of it in the end. */
export interface BulkTarget extends Target {
  /** Begins another file. @returns its number, counted up from 1 */
  beginFile(): number;
  /** Forgets the feedback of the present file. */
  dropFile(): void;
  /** @returns by file how many records are new or were overwritten; undefined when the signal came first */
  finish(options: FinishOptions): Promise<readonly number[] | undefined>;
  /** Stores nothing; does nothing once all is stored. */
  discard(): Promise<void>;
}

/** Begins to take all feedback of a run at once, for which the store must have none; undefined where it has some. */
export type BeginBulk = () => Promise<BulkTarget | undefined>;

/** Writes into a store that is made beside the one in a folder and takes its place. */
export function bulkTarget(bulk: BulkImport, name: string, overwrite: boolean): BulkTarget {
  const { write } = storeTarget(bulk, name, overwrite);
  return {
    name,
    write,
    get replacedReads() {
      return bulk.replacedReads;
    },
    writeFeedback: async (records) =>
      (await bulk.write({ kind: 'putFeedback', overwrite, batch: { records } })).rowAffected,
    beginFile: () => bulk.beginSource(),
    dropFile: () => bulk.dropSource(),
    finish: (options) => bulk.finish(options),
    discard: () => bulk.discard(),
  };
}

/** Writes into a store of this process. @param overwrites whether feedback that is there already is replaced */
export function storeTarget(
  data: Pick<DataStore, 'write'> & Partial<Pick<DataStore, 'getStats'>>,
  name: string,
  overwrites: boolean,
): Target {
  const command = (kind: Kind, json: Uint8Array<ArrayBuffer>): WriteCommand => {
    const batch = { json, single: false };
    if (kind === 'users') return { kind: 'putUsers', batch };
    if (kind === 'items') return { kind: 'putItems', batch };
    return { kind: 'putFeedback', overwrite: overwrites, batch };
  };
  let replaced = 0;
  return {
    name,
    get replacedReads() {
      return replaced;
    },
    hasItems: async () => ((await data.getStats?.())?.items ?? 0) > 0,
    async write(kind, json) {
      try {
        const { rowAffected, replacedReads = 0 } = await data.write(command(kind, json));
        replaced += replacedReads;
        return rowAffected;
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

/** Sends to a running server. */
export function httpTarget(client: ServiceClient, overwrites: boolean): Target {
  const send = async (kind: Kind, body: Uint8Array<ArrayBuffer>, tries: number): Promise<number> => {
    const method = kind === 'feedback' && overwrites ? 'PUT' : 'POST';
    const response = await client.send(method, `/api/${kind}`, { body });
    if (response.ok) return ((await response.json()) as { RowAffected: number }).RowAffected;
    if (response.status === 503 && tries < RETRY_MS.length) {
      await sleep(RETRY_MS[tries]);
      return send(kind, body, tries + 1);
    }
    const { detail, errors } = readProblem(await response.text());
    if (response.status === 400) throw new FurzeError('INVALID_BODY', detail, errors);
    const Refusal = response.status === 413 ? BatchTooLarge : OperatorError;
    throw new Refusal(`${client.url} answered ${response.status}: ${detail}`);
  };
  const batchesOf = (kind: Kind) => new SmallerBatches((body) => send(kind, body, 0));
  const batches = { users: batchesOf('users'), items: batchesOf('items'), feedback: batchesOf('feedback') };
  let last: Promise<unknown> = Promise.resolve();
  return {
    name: client.url,
    write(kind, json) {
      // One at a time: of records that come again the first, or the last, is to stay, also where a batch is sent again.
      const sent = last.then(() => batches[kind].write(json));
      last = sent.catch(() => {});
      return sent;
    },
    async hasItems() {
      const { Items } = (await (await client.ask('GET', '/api/items?n=1')).json()) as { Items: unknown[] };
      return Items.length > 0;
    },
    announce(about) {
      const path = `/api/admin/import/${randomUUID()}`;
      const put = (report: ImportReport) => client.send('PUT', path, { body: JSON.stringify(report) });
      return new ImportReports(put, about);
    },
  };
}

/** Sends vectors to a running server. @returns what throws FurzeError as the service has it */
export function writeVectorsTo(client: ServiceClient, space: string): WriteVectors {
  const path = `/api/vectors/${encodeURIComponent(space)}`;
  const batches = new SmallerBatches(async (body) => {
    const response = await client.send('POST', path, { body });
    if (response.ok) return 0;
    const { detail, errors } = readProblem(await response.text());
    if (response.status === 413) throw new BatchTooLarge(`${client.url} answered 413: ${detail}`);
    throw new FurzeError('INVALID_BODY', detail, errors);
  });
  return (json) => batches.write(json);
}
