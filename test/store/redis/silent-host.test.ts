import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { RedisLists } from '../../../src/store/redis/redis-lists.ts';

test('a host that takes connections and never answers is given up, tried again, and holds up no end', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.resume();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const dsn = {
    engine: 'redis',
    isCluster: false,
    nodes: [{ host: '127.0.0.1', port }],
    username: '',
    password: '',
    database: 0,
    tls: undefined,
  } as const;
  const lists = new RedisLists(dsn, { dsn, tag: 'one', ttlMs: 60_000 });
  try {
    await expect(lists.ping()).rejects.toThrow(/no connection/);
    await expect.poll(() => sockets.length).toBeGreaterThan(1);
  } finally {
    await lists.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});
