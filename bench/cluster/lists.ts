import { Redis } from 'ioredis';
import { createRandom } from '../../src/domain/random.ts';
import type { UserList } from '../../src/store/cache-store.ts';
import { type PostgresDsn, parseDsn, type RedisDsn } from '../../src/store/dsn.ts';
import { LmdbCacheStore } from '../../src/store/lmdb/cache/lmdb-cache-store.ts';
import { openSharedLists } from '../../src/store/open/open-shared-lists.ts';

const LIST_LENGTH = 100;

/** Size of a list in each engine: rows among five million items. */
export async function measureLists(
  postgresUrl: string,
  redisUrl: string,
  folder: string,
  count: number,
): Promise<void> {
  const random = createRandom(5);
  const lists = Array.from(
    { length: count },
    (_, userRow): UserList => ({
      userRow,
      generation: 7,
      madeMs: 1.7e12 + userRow,
      knowsMs: 1.7e12 + userRow,
      itemRows: Uint32Array.from({ length: LIST_LENGTH }, () => Math.floor(5_000_000 * random.float())),
      scores: Float32Array.from({ length: LIST_LENGTH }, () => random.float()),
      basis: { version: 2 ** 52 + userRow, settings: 77 },
    }),
  );
  const client = new Redis(redisUrl);
  const used = async () => Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))![1]);
  const before = await used();
  for (const url of [redisUrl, postgresUrl]) {
    const dsn = parseDsn(url) as RedisDsn | PostgresDsn;
    const place = openSharedLists({ dsn, tag: 'AbCdEfGh', ttlMs: 72 * 3_600_000 });
    for (let from = 0; from < count; from += 500) await place.change(lists.slice(from, from + 500), []);
    if (dsn.engine === 'redis') tell('Redis (of its memory)', ((await used()) - before) / count);
    else tell('PostgreSQL', (await place.getStats()).bytes / count);
    await place.close();
  }
  await client.flushdb();
  client.disconnect();
  const own = new LmdbCacheStore(folder);
  for (let from = 0; from < count; from += 5000) await own.putLists(lists.slice(from, from + 5000));
  tell('a folder of LMDB', (await own.getStats()).listBytes / count);
  await own.close();
}

function tell(place: string, bytes: number): void {
  console.log(`bytes of a list of ${LIST_LENGTH} in ${place}: ${Math.round(bytes)}`);
}
