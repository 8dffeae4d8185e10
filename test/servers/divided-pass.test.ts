import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Task } from '../../src/domain/admin-schemas.ts';
import { type PostgresDsn, parseDsn } from '../../src/store/dsn.ts';
import { unpackList } from '../../src/store/packed-list.ts';
import { Connection, Link } from '../../src/store/postgres/connection.ts';
import { PassBlocks } from '../../src/store/postgres/pass-blocks.ts';
import { startTestServer, type TestServer } from '../http/start.ts';
import { newPostgresDsn, newRedisDsn } from './dsn.ts';
import { PATIENT, servedGeneration } from './roles.ts';

/** Eight blocks of users. */
const USERS = 2000;
const LIKES = Array.from({ length: 4 * USERS }, (_, at) => ({
  FeedbackType: 'like',
  UserId: `u${at % USERS}`,
  ItemId: `i${((at % 3) + 3 * ((at * 7) % 19)) % 57}`,
  Timestamp: new Date(Date.UTC(2024, 0, 1) + at * 60_000).toISOString(),
}));

describe.skipIf(inject('postgresUrl') === '' || inject('redisUrl') === '')(
  'two workers that share lists',
  () => {
    const database = { data_store: '', cache_store: '' };
    const workers: TestServer[] = [];
    let redis: Redis;
    let connection: Connection;
    let link: Link;
    let schema: string;

    beforeAll(async () => {
      Object.assign(database, { data_store: newPostgresDsn(), cache_store: newRedisDsn() });
      redis = new Redis(database.cache_store);
      const dsn = parseDsn(database.data_store) as PostgresDsn;
      schema = dsn.schema;
      for (const name of ['w1', 'w2']) workers.push(await start(name));
      await workers[0]!.call('POST', '/api/feedback', LIKES);
      connection = await Connection.open(dsn, 'test');
      link = new Link(dsn, 'test node');
    });

    afterAll(async () => {
      for (const worker of workers) await worker.stop();
      redis?.disconnect();
      await link?.close();
      await connection?.close();
    });

    const start = (name: string) =>
      startTestServer({
        config: {
          node: { role: 'worker', name },
          database,
          recommend: {
            data_source: { positive_feedback_types: ['like'] },
            collaborative: { factors: 8, epochs: 3 },
            offline: { enable_click_through_prediction: false },
          },
        },
      });

    /** Begins to watch for the next pass as a node that takes its first blocks and is lost with them. @returns how many so far */
    function loseNode(): { taken: number; isOver: boolean } {
      const options = { link, schema: `"${schema}"`, node: 'lost', position: () => Infinity, leaseMs: 2000 };
      const blocks = new PassBlocks({ ...options, isGivenUp: () => false });
      const lost = { taken: 0, isOver: false };
      void (async () => {
        for (; !lost.isOver && lost.taken === 0; await delay(5)) {
          const [begun] = await connection.rows<[number, string]>(
            `SELECT pass_generation, pass_settings FROM "${schema}".generation WHERE pass_generation > 0`,
          );
          const course = begun && (await blocks.find({ generation: begun[0], settings: begun[1] }));
          if (course === undefined) continue;
          while (lost.taken < 3 && (await course.take(new AbortController().signal)) !== undefined)
            lost.taken++;
          clearInterval((course as unknown as { timer: NodeJS.Timeout }).timer);
        }
      })();
      return lost;
    }

    /** Lists by key, without the times of their making. */
    async function lists() {
      const keys = (await redis.keys('furze:*')).sort();
      const packed = await redis.mgetBuffer(keys);
      return packed.map((bytes, at) => {
        const { generation, itemRows, scores } = unpackList(0, bytes!)!;
        return { key: keys[at], generation, itemRows: [...itemRows], scores: [...scores] };
      });
    }

    const lastPass = async (worker: TestServer): Promise<Task | undefined> => {
      const { Past, Running } = (await worker.call('GET', '/api/admin/tasks')).body;
      const tasks: Task[] = [...Running, ...Past];
      return tasks.find(({ Kind }) => Kind === 'lists' || Kind === 'fit');
    };

    test('both make lists of a pass, and what a third had taken that is lost; each user has one', async () => {
      let [generation, ofLeader] = [0, 0];
      for (let taken = 0; taken === 0; generation++) {
        // On a busy machine a pass may be over before the third has seen it; another needs something new to learn.
        if (generation > 0)
          await workers[0]!.call('POST', '/api/feedback', [{ ...LIKES[0]!, ItemId: `i${56 + generation}` }]);
        const lost = loseNode();
        ofLeader = (await workers[0]!.service.fit())!.lists;
        lost.isOver = true;
        taken = lost.taken;
      }
      await expect.poll(() => servedGeneration(workers[1]!), PATIENT).toBe(generation);
      const made = async () => Number((await lastPass(workers[1]!))?.Result?.lists ?? 0);
      await expect.poll(async () => ofLeader + (await made()), PATIENT).toBe(USERS);
      expect(await redis.dbsize()).toBe(USERS);
      expect(new Set((await lists()).map(({ generation }) => generation))).toEqual(new Set([generation]));
    });

    test('where the leader is lost before it has begun a pass the next one does, and makes the same lists', async () => {
      const before = await lists();
      await redis.flushdb();
      await connection.run(`UPDATE "${schema}".generation SET pass_generation = 0`);
      await workers.shift()!.stop();
      await expect.poll(() => redis.dbsize(), PATIENT).toBe(USERS);
      expect(await lists()).toEqual(before);
    });
  },
);
