import { Redis } from 'ioredis';
import type { TestRedis } from '../../test/servers/redis.ts';
import type { Checks } from '../checks.ts';
import { pause } from '../furze-process.ts';
import type { Flood } from './flood.ts';
import { type Node, waitFor } from './node.ts';

/** Pause between two flushes, milliseconds. */
const FLUSH_MS = 5;

export interface RedisFaults {
  readonly redis: TestRedis;
  readonly servers: readonly Node[];
  readonly flood: Flood;
  readonly checks: Checks;
  readonly tell: (what: string, seconds: number) => void;
  /** How long each fault lasts, milliseconds. */
  readonly faultMs: number;
}

/** Takes Redis from under a flood: none of it may refuse a write, mark an answer stale or make
 * one wrong. */
export async function breakRedis(parts: RedisFaults): Promise<void> {
  const { redis, servers, tell } = parts;
  const allSay = (value: number) => async () =>
    (await Promise.all(servers.map((node) => node.metric('furze_cache_up')))).every((up) => up === value);
  await unharmed(parts, 'Redis flushed again and again', () => flushOften(parts));
  await unharmed(parts, 'Redis killed', async () => {
    await redis.pause();
    tell('Redis killed: both servers leave it alone', await waitFor('Redis left alone', allSay(0)));
    await pause(parts.faultMs);
    await redis.resume();
    tell('Redis started again, empty: both servers ask it', await waitFor('Redis asked', allSay(1)));
    tell('Redis started again, empty: lists are in it', await listsThere(redis));
  });
  await unharmed(parts, 'Redis paused', async () => {
    process.kill(redis.processId, 'SIGSTOP');
    try {
      tell('Redis paused: both servers leave it alone', await waitFor('Redis left alone', allSay(0)));
      await pause(parts.faultMs);
    } finally {
      process.kill(redis.processId, 'SIGCONT');
    }
    tell('Redis goes on: both servers ask it', await waitFor('Redis asked', allSay(1)));
  });
}

async function flushOften({ redis, faultMs, tell }: RedisFaults): Promise<void> {
  const client = new Redis(redis.url);
  const until = performance.now() + faultMs;
  let flushes = 0;
  while (performance.now() < until) {
    await client.flushall();
    flushes++;
    await pause(FLUSH_MS);
  }
  client.disconnect();
  tell(`Redis flushed ${flushes} times: lists are in it again`, await listsThere(redis));
}

async function listsThere(redis: TestRedis): Promise<number> {
  const client = new Redis(redis.url);
  try {
    return await waitFor('a list in Redis', async () => (await client.dbsize()) > 0);
  } finally {
    client.disconnect();
  }
}

async function unharmed(
  { flood, checks }: RedisFaults,
  name: string,
  work: () => Promise<void>,
): Promise<void> {
  const { acknowledged, reads, refused } = flood;
  const stale = flood.stale.unexcused;
  const wrong = flood.wrong.length;
  await work();
  checks.check(
    `${name}: nothing refused, marked stale without a wait for PostgreSQL, or wrong`,
    flood.refused === refused && flood.stale.unexcused === stale && flood.wrong.length === wrong,
    `${flood.acknowledged - acknowledged} writes, ${flood.reads - reads} reads meanwhile, ${flood.refused - refused} refused, ` +
      `${flood.stale.unexcused - stale} stale, ${flood.wrong.length - wrong} wrong`,
  );
}
