import type { RedisDsn } from '../open/dsn.ts';
import type { PackedList, SharedLists, SharedPlace } from '../shared/shared-lists.ts';
import { openRedis, type RedisClient } from './client.ts';

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

  async getStats(): Promise<{ readonly lists: number; readonly bytes: number }> {
    const each = await this.ask((client) =>
      Promise.all(
        (client.isCluster ? mastersOf(client) : [client]).map(
          async (server) => [await server.dbsize(), usedMemory(await server.info('memory'))] as const,
        ),
      ),
    );
    return {
      lists: each.reduce((sum, [keys]) => sum + keys, 0),
      bytes: each.reduce((sum, [, bytes]) => sum + bytes, 0),
    };
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

  private keyOf(userRow: number): string {
    return this.prefix + userRow;
  }

  /** The client's errors hold what was sent, passwords and lists among it: only what they say goes on. */
  private async ask<T>(work: (client: RedisClient) => Promise<T>): Promise<T> {
    try {
      return await work(await this.connect());
    } catch (error) {
      throw new Error(reasonOf(error));
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

function mastersOf(client: RedisClient) {
  return 'nodes' in client ? client.nodes('master') : [];
}

function reasonOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: unknown };
  return message !== undefined && message !== '' ? message : String(code ?? 'the connection failed');
}

function usedMemory(info: string): number {
  return Number(/^used_memory:(\d+)/m.exec(info)?.[1] ?? 0);
}

function toBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
