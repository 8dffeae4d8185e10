import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { startTestServer } from '../http/start.ts';
import { HAS_POSTGRES } from '../store/postgres/under-test.ts';
import { newPostgresDsn } from './dsn.ts';
import { freePort } from './free-port.ts';

/** Stands between a node and its database, and keeps still from the moment on at which a text passes. */
async function startGoBetween(port: number, keepsStillAt: string) {
  const sockets: Socket[] = [];
  let isStill = false;
  let hasGoneOn = false;
  const setStill = (still: boolean) => {
    isStill = still;
    for (const socket of sockets) still ? socket.pause() : socket.resume();
  };
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.push(from);
      from.on('error', () => {}).on('close', () => to.destroy());
      from.on('data', (bytes) => {
        to.write(bytes);
        if (!hasGoneOn && bytes.includes(keepsStillAt)) setStill(true);
      });
      if (isStill) from.pause();
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get isStill() {
      return isStill;
    },
    goOn() {
      hasGoneOn = true;
      setStill(false);
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

test.skipIf(!HAS_POSTGRES)(
  'a node whose database falls silent while it reads the models back refuses requests until it answers',
  async () => {
    const dataStore = newPostgresDsn();
    const config = {
      recommend: {
        data_source: { positive_feedback_types: ['like'] },
        collaborative: { factors: 8, epochs: 3 },
        offline: { enable_click_through_prediction: false },
      },
    };
    const worker = await startTestServer({ config: { ...config, database: { data_store: dataStore } } });
    const likes = Array.from({ length: 600 }, (_, at) => ({
      FeedbackType: 'like',
      UserId: `u${at % 50}`,
      ItemId: `i${((at % 3) + 3 * ((at * 7) % 19)) % 57}`,
      Timestamp: new Date(Date.UTC(2024, 0, 1) + at * 60_000).toISOString(),
    }));
    await worker.call('POST', '/api/feedback', likes);
    expect(await worker.service.fit()).toMatchObject({ unchanged: false });
    await worker.stop();
    const { port: databasePort } = new URL(dataStore);
    const between = await startGoBetween(Number(databasePort), 'sum(length(bytes))');
    const port = await freePort();
    const starting = startTestServer({
      config: {
        ...config,
        server: { port },
        database: { data_store: dataStore.replace(`:${databasePort}/`, `:${between.port}/`) },
      },
    });
    try {
      const patient = { timeout: 600_000, interval: 50 };
      await vi.waitFor(() => expect(between.isStill).toBe(true), patient);
      const base = `http://127.0.0.1:${port}`;
      await vi.waitFor(() => fetch(`${base}/api/health/live`), patient);
      for (const path of ['/api/recommend/u1', '/api/health/ready']) {
        const refused = await fetch(base + path);
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
        expect(await refused.json()).toMatchObject({ code: 'STORE_UNAVAILABLE' });
      }
      between.goOn();
      const node = await starting;
      expect((await node.call('GET', '/api/recommend/u1')).status).toBe(200);
      await vi.waitFor(async () => {
        const { Model } = (await node.call('GET', '/api/admin/summary')).body;
        expect(Model.Generation).toBe(1);
      }, patient);
      await node.stop();
    } finally {
      between.goOn();
      await (await starting.catch(() => undefined))?.stop().catch(() => {});
      between.close();
    }
  },
);
