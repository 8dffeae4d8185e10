import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { PostgresDsn } from '../../../src/store/dsn.ts';
import { Connection, Link, persist } from '../../../src/store/postgres/connection.ts';
import { DatabaseAwayError } from '../../../src/store/postgres/database-away-error.ts';
import { HAS_POSTGRES, newDsn } from './under-test.ts';

/** What a server says that lets everybody in: AuthenticationOk, ReadyForQuery. */
const WELCOME = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

let server: Server;
let dsn: PostgresDsn;
let client: Socket;

/** A server that takes a connection and answers no query. */
beforeEach(async () => {
  server = createServer((socket) => {
    client = socket;
    socket.on('error', () => {});
    socket.once('data', () => socket.write(WELCOME));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `postgres://me@127.0.0.1:${port}/x?sslmode=disable`;
  dsn = { engine: 'postgres', url, sessionUrl: url, schema: 's' };
});

afterEach(() => {
  client?.destroy();
  server.close();
});

test('all queries that were sent ahead fail with the connection', async () => {
  const connection = await Connection.open(dsn, 'test');
  const sent = Promise.allSettled([
    connection.run('BEGIN'),
    connection.rows('SELECT $1', [1]),
    connection.run('COMMIT'),
  ]);
  await once(client, 'data');
  client.destroy();
  expect((await sent).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(connection.isOpen).toBe(false);
});

test('the system looks whether the host of a silent server is there', async () => {
  const asked = vi.spyOn(Socket.prototype, 'setKeepAlive');
  const connection = await Connection.open(dsn, 'test');
  expect(asked.mock.calls).toContainEqual([true, 60_000]);
  asked.mockRestore();
  client.destroy();
  await connection.close();
});

test('a server that does not answer holds up no end', async () => {
  const connection = await Connection.open(dsn, 'test');
  const sent = Promise.allSettled([connection.run('SELECT 1')]);
  await connection.close();
  expect((await sent)[0]!.status).toBe('rejected');
});

test('a server that does not even say goodbye holds up no end', async () => {
  const connection = await Connection.open(dsn, 'test');
  client.pause();
  await connection.close();
  expect(connection.isOpen).toBe(false);
});

test('work for which the database is away is tried no more once it is given up, or its link closed', async () => {
  let tries = 0;
  const away = async () => {
    tries++;
    throw new DatabaseAwayError(new Error('read ECONNRESET'));
  };
  await expect(persist(away, () => tries === 2)).rejects.toThrow('ECONNRESET');
  expect(tries).toBe(2);
  const link = new Link(dsn, 'test');
  await link.close();
  await expect(
    persist(
      () => link.connect(),
      () => false,
    ),
  ).rejects.toThrow(/was closed/);
});

test('a query without an answer in time ends the connection', async () => {
  const connection = await Connection.open(dsn, 'test', 50);
  const sent = await Promise.allSettled([connection.run('SELECT 1'), connection.run('SELECT 2')]);
  expect(sent.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect.poll(() => connection.isOpen).toBe(false);
});

test.skipIf(!HAS_POSTGRES)(
  'a connection that the server ends fails all that was sent, closes, and is followed by another',
  async () => {
    const link = new Link(newDsn(), 'test');
    const connection = await link.connect();
    expect(await connection.rows('SHOW idle_in_transaction_session_timeout')).toEqual([['15s']]);
    const [pid] = await connection.rows<[number]>('SELECT pg_backend_pid()');
    const sent = Promise.allSettled([
      connection.rows('SELECT pg_sleep(60)'),
      connection.run('BEGIN'),
      connection.rows('SELECT $1::int', [1]),
      connection.run('COMMIT'),
    ]);
    const closed = (async () => {
      const other = await Connection.open(newDsn(), 'test');
      await other.rows('SELECT pg_terminate_backend($1)', [pid![0]]);
      await other.close();
    })();
    expect((await sent).map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    await closed;
    await expect.poll(() => connection.isOpen).toBe(false);
    await expect(connection.rows('SELECT 1')).rejects.toThrow();
    await connection.close();
    await connection.close();
    const next = await link.connect();
    expect(await next.rows('SELECT 1')).toEqual([[1]]);
    await link.close();
    await expect(next.rows('SELECT 1')).rejects.toThrow();
  },
);
