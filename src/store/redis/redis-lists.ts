import { messageOf } from '../../domain/furze-error.ts';
import type { RedisDsn } from '../dsn.ts';
import type { PackedList, SharedLists, SharedPlace, SharedStats } from '../shared/shared-lists.ts';
import { openRedis, type RedisClient, type RedisServer } from './client.ts';

/** Keys looked at to tell what share of them is this store's; all of them where there are no more. */
const LOOKED_AT_MAX = 4000;
const LOOKED_AT_ONCE = 1000;
/** Lists whose sizes stand for those of all. */
const SIZED_MAX = 32;

/** Lists in Redis or Valkey: one key a user, each of which expires. */
export class RedisLists implements SharedLists {
  private readonly dsn: RedisDsn;
  private readonly prefix: string;
  private readonly ttlMs: number;
  private client: Promise<RedisClient> | undefined;
  /** Why there is no connection, where there is none. */
  private failure: Error | undefined;

  constructor(dsn: RedisDsn, { tag, ttlMs }: SharedPlace) {
    this.dsn = dsn;
    this.prefix = `furze:${tag}:`;
    this.ttlMs = Math.max(1, Math.round(ttlMs));
  }

  async get(userRows: readonly number[]): Promise<readonly (Uint8Array | undefined)[]> {
    const keys = userRows.map((row) => this.keyOf(row));
    const found = await this.ask((client) =>
      client.isCluster ? Promise.all(keys.map((key) => client.getBuffer(key))) : client.mgetBuffer(keys),
    );
    return found.map((bytes) => bytes ?? undefined);
  }

  async change(lists: readonly PackedList[], removed: readonly number[]): Promise<void> {
    // One by one, since the keys of a cluster lie on several servers; they are sent together all the same.
    await this.ask((client) =>
      Promise.all([
        ...lists.map(([row, bytes]) => client.set(this.keyOf(row), toBuffer(bytes), 'PX', this.ttlMs)),
        ...removed.map((row) => client.unlink(this.keyOf(row))),
      ]),
    );
  }

  async getStats(): Promise<SharedStats> {
    const each = await this.ask((client) => {
      const servers = 'nodes' in client ? client.nodes('master') : [client];
      return Promise.all(servers.map((server) => this.statsOf(server)));
    });
    return each.reduce((sum, { lists, bytes }) => ({ lists: sum.lists + lists, bytes: sum.bytes + bytes }));
  }

  async ping(): Promise<void> {
    await this.ask((client) => client.ping());
  }

  reset(): void {
    void this.client?.then((client) => {
      if (client.status === 'ready') client.disconnect(true);
    });
  }

  async close(): Promise<void> {
    const opening = this.client;
    this.client = undefined;
    const client = await opening?.catch(() => undefined);
    client?.disconnect();
  }

  /** SCAN goes through keys in the order of their hashes, so those that come first are as good as any taken by chance. */
  private async statsOf(server: RedisServer): Promise<SharedStats> {
    const count = await server.dbsize();
    const seen = new Set<string>();
    let cursor = '0';
    do {
      const [next, keys] = await server.scan(cursor, 'COUNT', LOOKED_AT_ONCE);
      for (const key of keys) seen.add(key);
      cursor = next;
    } while (cursor !== '0' && seen.size < LOOKED_AT_MAX);
    const own = [...seen].filter((key) => key.startsWith(this.prefix));
    const lists = cursor === '0' ? own.length : Math.round((count * own.length) / seen.size);
    const sizes = await Promise.all(own.slice(0, SIZED_MAX).map((key) => server.memory('USAGE', key)));
    const known = sizes.filter((size) => size !== null);
    const mean = known.reduce((sum, size) => sum + size, 0) / Math.max(1, known.length);
    return { lists, bytes: Math.round(lists * mean) };
  }

  private keyOf(userRow: number): string {
    return this.prefix + userRow;
  }

  /** The client's errors hold what was sent, passwords and lists among it: only what they say goes on. */
  private async ask<T>(work: (client: RedisClient) => Promise<T>): Promise<T> {
    try {
      return await work(await this.connect());
    } catch (error) {
      throw new Error(messageOf(error));
    }
  }

  private async connect(): Promise<RedisClient> {
    this.client ??= openRedis(this.dsn, (error) => {
      this.failure = error;
    }).catch((error) => {
      this.client = undefined;
      throw error;
    });
    const client = await this.client;
    if (client.status !== 'ready') throw this.failure ?? new Error('there is no connection to the server');
    return client;
  }
}

function toBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
