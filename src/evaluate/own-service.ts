import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type Config, type ConfigOverrides, defaultConfig } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import type { Feedback, Item, User } from '../domain/entities.ts';
import { EMPTY_ITEM, EMPTY_USER } from '../domain/entity-fields.ts';
import { getOrPut } from '../domain/get-or-put.ts';
import { formatTimestamp, parseTimestamp } from '../domain/rfc3339.ts';
import { type TemporaryFolder, temporaryFolder } from '../platform/files/temporary-folder.ts';
import { createLogger } from '../platform/log/log.ts';
import { type Service, startService } from '../service/service.ts';
import type { DataStore, WriteCommand } from '../store/data-store.ts';
import type { Past } from './read-feedback.ts';

/** Records sent in one write. */
const BATCH = 10_000;

/** `[recommend]` keys that a configuration has another value for. */
export type Recommend = NonNullable<ConfigOverrides['recommend']>;

/** Times by which a service that an evaluation runs for itself goes. */
export interface OwnTime {
  readonly clock: Clock;
  /** Time that has passed, for budgets of time; that of the system by default. */
  readonly elapsedMs?: Clock;
}

/**
 * A service of an evaluation in a temporary folder, where nothing begins by itself: a fit would know a part of what is
 * written. Requests have a key: other users of this machine could read the data otherwise.
 */
export class OwnService {
  private readonly folder: TemporaryFolder;
  private readonly key = randomUUID();
  private service: Service | undefined;

  /** @param name begins the folder's */
  constructor(name: string) {
    this.folder = temporaryFolder(name);
  }

  get data(): DataStore {
    return this.service!.data;
  }

  /**
   * Starts it on its folder.
   * @param config that is judged; stores, address and keys are replaced
   * @param recommend changes to `[recommend]`
   */
  async start(config: Config, recommend: Recommend, { clock, elapsedMs }: OwnTime): Promise<void> {
    const changed = ownConfig(config, recommend, join(this.folder.path, 'data'), this.key);
    const log = createLogger('error');
    const time = { clock, ...(elapsedMs !== undefined && { elapsedMs }) };
    this.service = await startService({ config: changed, log, onDemand: true, ...time });
  }

  async fit(onStage: (stage: string) => void): Promise<void> {
    await this.service!.fit((stage) => onStage(stage));
  }

  /** Asks it, or tells it something. @throws Error for an answer that is no 2xx */
  async send(path: string, body?: unknown): Promise<unknown> {
    const { host, port } = this.service!.address;
    const answer = await fetch(`http://${host}:${port}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'X-API-Key': this.key },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`the service answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  }

  /** Stops it; it can be started again. */
  async stop(): Promise<void> {
    await this.service?.stop();
    this.service = undefined;
  }

  /** Stops it and removes its folder. */
  async close(): Promise<void> {
    try {
      await this.stop();
    } finally {
      this.folder.remove();
    }
  }
}

function ownConfig(config: Config, recommend: Recommend, data: string, key: string): Config {
  const { server, database, recommend: given } = config;
  return defaultConfig({
    ...config,
    node: { role: 'all' },
    key: {},
    database: {
      ...database,
      data_store: `lmdb://${data}`,
      cache_store: `lmdb://${join(data, 'cache')}`,
      sync: 'commit',
    },
    server: {
      ...server,
      ...{ host: '127.0.0.1', port: 0, ssl_cert: '', ssl_key: '' },
      ...{ api_key: key, api_keys: [], read_only_api_key: '' },
      ...{ auto_insert_user: true, auto_insert_item: true },
    },
    recommend: {
      ...given,
      ...recommend,
      offline: { ...given.offline, ...recommend.offline },
      online: { ...given.online, ...recommend.online },
    },
  });
}

export function userOf({ users, userIds }: Past, row: number): User {
  return { ...EMPTY_USER, ...users[row], UserId: userIds[row]! };
}

/** An item as the store takes it; one without a time of its own is as old as its first record, and none is younger. */
export function itemOf({ items, itemIds }: Past, row: number, firstMs: number): Item {
  const bare = { ...EMPTY_ITEM, ...items[row], ItemId: itemIds[row]! };
  const isOlder = bare.Timestamp !== '' && parseTimestamp(bare.Timestamp) <= firstMs;
  return isOlder ? bare : { ...bare, Timestamp: formatTimestamp(firstMs) };
}

/** A record as the store takes it. */
export function feedbackOf(past: Past, at: number): Feedback {
  return {
    FeedbackType: past.types[at]!,
    UserId: past.userIds[past.userRows[at]!]!,
    ItemId: past.itemIds[past.itemRows[at]!]!,
    Timestamp: formatTimestamp(past.timesMs[at]!),
    Comment: '',
    ...(past.values[at] !== 0 && { Value: past.values[at] }),
  };
}

/** Records to begin with, by their rows and positions in a past. */
export interface Beginning {
  readonly users: Iterable<number>;
  /** Items with the time of the first record of each. */
  readonly items: ReadonlyMap<number, number>;
  readonly feedback: Iterable<number>;
}

/** Items whose vectors are sent in one write. */
const VECTOR_BATCH = 200;

/** Hands the vectors of items out by space, some at a time. */
export async function eachVectors(
  { vectorsOf, itemIds }: Past,
  rows: Iterable<number>,
  write: (space: string, records: readonly object[]) => Promise<unknown>,
): Promise<void> {
  if (vectorsOf === undefined) return;
  const all = [...rows];
  for (let from = 0; from < all.length; from += VECTOR_BATCH) {
    const bySpace = new Map<string, object[]>();
    for (const row of all.slice(from, from + VECTOR_BATCH))
      for (const [space, vector] of vectorsOf(itemIds[row]!))
        getOrPut(bySpace, space, (): object[] => []).push(vector);
    for (const [space, records] of bySpace) await write(space, records);
  }
}

/** Writes what a service knows from the beginning. */
export async function fillStore(data: DataStore, past: Past, known: Beginning): Promise<void> {
  const users = Array.from(known.users, (row) => userOf(past, row));
  const items = Array.from(known.items, ([row, ms]) => itemOf(past, row, ms));
  await writeAll(data, users, (records) => ({ kind: 'putUsers', batch: { records } }));
  await writeAll(data, items, (records) => ({ kind: 'putItems', batch: { records } }));
  await eachVectors(past, known.items.keys(), (space, records) => {
    const json = Uint8Array.from(Buffer.from(JSON.stringify(records)));
    return data.write({ kind: 'putVectors', space, batch: { json, single: false } });
  });
  const positions = [...known.feedback];
  await writeAll(data, positions, (batch) => {
    const records = batch.map((at) => feedbackOf(past, at));
    return { kind: 'putFeedback', overwrite: false, batch: { records } };
  });
}

/** The items of some records, with the time of the first record of each. */
export function firstTimes(past: Past, positions: readonly number[]): Map<number, number> {
  const firstMs = new Map<number, number>();
  for (const at of positions) {
    const row = past.itemRows[at]!;
    firstMs.set(row, Math.min(firstMs.get(row) ?? Number.POSITIVE_INFINITY, past.timesMs[at]!));
  }
  return firstMs;
}

async function writeAll<T>(
  data: DataStore,
  records: readonly T[],
  command: (records: readonly T[]) => WriteCommand,
): Promise<void> {
  for (let at = 0; at < records.length; at += BATCH) await data.write(command(records.slice(at, at + BATCH)));
}
