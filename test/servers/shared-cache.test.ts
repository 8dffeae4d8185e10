import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, connect as dial, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { writeSelfSigned } from '../http/self-signed.ts';
import { startTestServer, type TestServer } from '../http/start.ts';
import { newPostgresDsn, newRedisDsn } from './dsn.ts';
import { freePort } from './free-port.ts';
import { startRedis, type TestRedis } from './redis.ts';
import { freshAnswer } from './roles.ts';

const GROUPS = 4;
const GROUP_ITEMS = 12;

/** Lists are of what is like the user's likes by its labels, so that one that is behind shows. */
const RECOMMEND = {
  data_source: { positive_feedback_types: ['like'], read_feedback_types: ['read'] },
  item_neighbors: { neighbor_type: 'similar' },
  offline: {
    enable_item_based_recommend: true,
    enable_latest_recommend: false,
    enable_popular_recommend: false,
    enable_collaborative_recommend: false,
    enable_user_based_recommend: false,
  },
} as const;
const ONLINE = { online: { remake_share: 1, fallback_recommend: ['item_based'] } } as const;

const started: TestServer[] = [];
async function startNode(database: Record<string, string>): Promise<TestServer> {
  const node = await startTestServer({ config: { database, recommend: { ...RECOMMEND, ...ONLINE } } });
  started.push(node);
  return node;
}

afterEach(async () => {
  for (const node of started.splice(0)) await node.stop();
});

/** Items, a user of each group, and what can be learned of them. */
async function addItems(node: TestServer): Promise<void> {
  const items = Array.from({ length: GROUPS * GROUP_ITEMS }, (_, at) => ({
    ItemId: `${at % GROUPS}-${at}`,
    Labels: [`group ${at % GROUPS}`],
    Timestamp: '2024-01-01',
  }));
  expect((await node.call('POST', '/api/items', items)).status).toBe(200);
  const likes = items.map(({ ItemId, Labels }) => ({
    FeedbackType: 'like',
    UserId: Labels[0],
    ItemId,
    Timestamp: '2024-02-02',
  }));
  expect((await node.call('PUT', '/api/feedback', likes)).status).toBe(200);
  await node.service.fit();
}

/** The user likes one item alone, of this group. */
async function likeAlone(node: TestServer, user: string, group: number, last?: string): Promise<string> {
  const ItemId = `${group}-${group + GROUPS * (last === undefined ? 0 : (Number(last.split('-')[1]) % 5) + 1)}`;
  if (last !== undefined && last !== ItemId)
    expect((await node.call('DELETE', `/api/feedback/like/${user}/${last}`)).status).toBe(200);
  const like = { FeedbackType: 'like', UserId: user, ItemId, Timestamp: '2024-05-05' };
  expect((await node.call('PUT', '/api/feedback', [like])).status).toBe(200);
  return ItemId;
}

async function groupsFor(node: TestServer, user: string): Promise<string[]> {
  const { status, body } = await freshAnswer(node, `/api/recommend/${user}?n=3`);
  expect([status, body.length]).toEqual([200, 3]);
  return [...new Set((body as string[]).map((itemId) => itemId.split('-')[0]!))];
}

async function metric(node: TestServer, name: string): Promise<number> {
  const { text } = await node.call('GET', '/metrics');
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

const hasRedis = inject('redisUrl') !== '';
const redisAt = (url: string) => new Redis(url, { lazyConnect: false });

describe.skipIf(!hasRedis || inject('postgresUrl') === '')('two nodes over PostgreSQL and Redis', () => {
  test('a list that one has made the other takes, also after a restart, and what it makes anew is right', async () => {
    const cache_store = newRedisDsn();
    const database = { data_store: newPostgresDsn(), cache_store };
    const a = await startNode(database);
    await addItems(a);
    const b = await startNode(database);
    await expect.poll(() => b.service.hasModel).toBe(true);
    const redis = redisAt(cache_store);
    await redis.flushdb();
    let last = await likeAlone(a, 'u', 1);
    expect(await groupsFor(a, 'u')).toEqual(['1']);
    await expect.poll(() => redis.dbsize()).toBe(1);
    const [key] = await redis.keys('furze:*');
    const stored = () => redis.getBuffer(key!);
    const failures = () => metric(b, 'furze_cache_failures');
    const take = async () => {
      const [failedBefore, madeBefore] = [await failures(), await stored()];
      expect(await groupsFor(b, 'u')).toEqual(['1']);
      const failed = (await failures()) - failedBefore;
      // It ends with all lists stored that it has made, and counts anew.
      await b.restart();
      expect(await groupsFor(b, 'u')).toEqual(['1']);
      const isSame = failed + (await failures()) === 0 && madeBefore!.equals((await stored())!);
      return isSame ? madeBefore : undefined;
    };
    // On a busy machine Redis may not answer in time, or the node that made the list renews it meanwhile.
    let made = await take();
    while (!made) made = await take();
    expect(await redis.pttl(key!)).toBeGreaterThan(0);
    last = await likeAlone(b, 'u', 2, last);
    expect(await groupsFor(a, 'u')).toEqual(['2']);
    await expect.poll(stored).not.toEqual(made);
    redis.disconnect();
  });

  test('no answer is behind while everything is flushed again and again', async () => {
    const cache_store = newRedisDsn();
    const database = { data_store: newPostgresDsn(), cache_store };
    const nodes = [await startNode(database)];
    await addItems(nodes[0]!);
    nodes.push(await startNode(database));
    const redis = redisAt(cache_store);
    const rounds = Number(process.env.FLOOD_ROUNDS ?? 25);
    let isOver = false;
    let flushes = 0;
    const flushing = (async () => {
      while (!isOver) {
        await redis.flushdb();
        flushes++;
        await new Promise((resolve) => setTimeout(resolve, 3));
      }
    })();
    const users = Array.from({ length: 6 }, async (_, at) => {
      let last: string | undefined;
      for (let round = 0; round < rounds; round++) {
        const group = (round + at) % GROUPS;
        last = await likeAlone(nodes[round % 2]!, `u${at}`, group, last);
        const answers = await Promise.all(nodes.map((node) => groupsFor(node, `u${at}`)));
        expect(answers).toEqual([[String(group)], [String(group)]]);
      }
    });
    await Promise.all(users);
    isOver = true;
    await flushing;
    redis.disconnect();
    expect(flushes).toBeGreaterThan(5);
  });
});

describe.skipIf(!hasRedis)('a node with a Redis that', () => {
  let redis: TestRedis;
  const folder = mkdtempSync(join(tmpdir(), 'furze-shared-'));

  beforeAll(async () => {
    redis = (await startRedis(['--requirepass', 's3cret']))!;
  });

  beforeEach(() => redis.resume());

  afterAll(async () => {
    await redis?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const address = (password: string) => redis.url.replace('//', `//:${password}@`);

  test('goes and comes answers all the same, is ready, says so, and shares again by itself', async () => {
    const node = await startNode({ cache_store: address('s3cret') });
    await addItems(node);
    let last = await likeAlone(node, 'u', 1);
    expect(await groupsFor(node, 'u')).toEqual(['1']);
    await redis.pause();
    for (let round = 0; round < 6; round++) {
      last = await likeAlone(node, 'u', round % GROUPS, last);
      expect(await groupsFor(node, 'u')).toEqual([String(round % GROUPS)]);
    }
    for (let group = 0; group < GROUPS; group++) await node.call('GET', `/api/recommend/group ${group}?n=3`);
    expect(await metric(node, 'furze_cache_up')).toBe(0);
    expect(await metric(node, 'furze_cache_failures')).toBeGreaterThan(2);
    const ready = await node.call('GET', '/api/health/ready');
    expect([ready.status, ready.body.CacheStoreConnected]).toEqual([200, false]);
    expect(node.lines.filter((line) => line.includes('shared cache does not answer'))).toHaveLength(1);
    await redis.resume();
    await expect.poll(() => metric(node, 'furze_cache_up')).toBe(1);
    await likeAlone(node, 'u', 1, last);
    expect(await groupsFor(node, 'u')).toEqual(['1']);
    await expect.poll(() => metric(node, 'furze_cache_lists')).toBe(1);
    await expect
      .poll(async () => (await node.call('GET', '/api/health/ready')).body.CacheStoreConnected)
      .toBe(true);
  });

  test('refuses its password says why and shows it nowhere', async () => {
    const node = await startNode({ cache_store: address('wr0ng') });
    const health = () => node.call('GET', '/api/health/ready');
    await addItems(node);
    await likeAlone(node, 'u', 2);
    expect(await groupsFor(node, 'u')).toEqual(['2']);
    const said = /WRONGPASS|NOAUTH|password/i;
    await expect.poll(async () => (await health()).body.CacheStoreError).toMatch(said);
    const config = await node.call('GET', '/api/admin/config');
    expect(config.text).toMatch(/"rediss?:\/\/[^@"]+"/);
    for (const text of [...node.lines, config.text, (await health()).text])
      expect(text).not.toContain('wr0ng');
  });

  test('speaks TLS is trusted by its certificate alone', async () => {
    const { certPath: cert, keyPath: key } = await writeSelfSigned(folder, 'redis');
    const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
    const encrypted = (await startRedis([...files, '--tls-auth-clients', 'no'], true))!;
    const known = await startNode({ cache_store: `${encrypted.url}?sslrootcert=${cert}` });
    await expect
      .poll(async () => (await known.call('GET', '/api/health/ready')).body.CacheStoreError)
      .toBe('');
    const unknown = await startNode({ cache_store: encrypted.url });
    await expect
      .poll(async () => (await unknown.call('GET', '/api/health/ready')).body.CacheStoreError)
      .toMatch(/self.signed/i);
    await encrypted.stop();
  });

  test('is slow is left alone, and answers are right', async () => {
    const proxy = await startSlowProxy(redis.port, 400);
    const node = await startNode({
      cache_store: address('s3cret').replace(String(redis.port), String(proxy.port)),
    });
    await addItems(node);
    for (let round = 0; round < 8; round++) {
      await likeAlone(node, `u${round}`, round % GROUPS);
      expect(await groupsFor(node, `u${round}`)).toEqual([String(round % GROUPS)]);
    }
    await expect.poll(() => metric(node, 'furze_cache_up')).toBe(0);
    proxy.server.close();
    proxy.end();
  });
});

/** A server between that holds back what comes from the other one. */
async function startSlowProxy(
  port: number,
  delayMs: number,
): Promise<{ server: Server; port: number; end: () => void }> {
  const ends: (() => void)[] = [];
  const server = createServer((client) => {
    const upstream = dial(port, '127.0.0.1');
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.on('data', (chunk) => setTimeout(() => client.writable && client.write(chunk), delayMs));
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => {});
      one.on('close', () => other.destroy());
      ends.push(() => one.destroy());
    }
  });
  const own = await freePort();
  await new Promise<void>((resolve) => server.listen(own, '127.0.0.1', resolve));
  return {
    server,
    port: own,
    end: () => {
      for (const end of ends) end();
    },
  };
}
