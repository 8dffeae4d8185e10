import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { FurzeError } from '../../../src/domain/furze-error.ts';
import type { PostgresDsn } from '../../../src/store/dsn.ts';
import { Connection } from '../../../src/store/postgres/connection.ts';
import { classified, DatabaseAwayError, isAway } from '../../../src/store/postgres/database-away-error.ts';
import { NodeSession } from '../../../src/store/postgres/node-session.ts';
import { HAS_POSTGRES, newDsn } from './under-test.ts';

const ANSWER_MS_MAX = 300;
/** AuthenticationOk, ReadyForQuery. */
const WELCOME = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);
const MESSAGE_KINDS = 'RSKZTDC1234NEAGHWdcIntsvV';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listen(take: (socket: Socket) => void): Promise<number> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    take(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function dsnAt(port: number): PostgresDsn {
  const url = `postgres://me@127.0.0.1:${port}/x?sslmode=disable`;
  return { engine: 'postgres', url, sessionUrl: url, schema: 's' };
}

/** What a connection fails with: while it is made, or with three queries that were sent ahead. */
async function failuresOf(dsn: PostgresDsn, query = 'SELECT pg_sleep(60)'): Promise<unknown[]> {
  let connection: Connection;
  try {
    connection = await Connection.open(dsn, 'test', ANSWER_MS_MAX);
  } catch (error) {
    return [error];
  }
  const sent = [connection.rows(query), connection.run('SELECT 1'), connection.rows('SELECT $1::int', [1])];
  const outcomes = await Promise.allSettled(sent);
  expect(connection.isOpen).toBe(false);
  await connection.close();
  return outcomes.map((each) => (each.status === 'rejected' ? each.reason : 'answered'));
}

describe('a server that does not speak the protocol', () => {
  const message = fc
    .tuple(
      fc.constantFrom(...MESSAGE_KINDS),
      fc.integer({ min: -2, max: 40 }),
      fc.uint8Array({ maxLength: 40 }),
    )
    .map(([kind, length, body]) => {
      const head = Buffer.alloc(5);
      head.write(kind, 'latin1');
      head.writeInt32BE(length, 1);
      return Buffer.concat([head, body]);
    });

  test.each([
    ['at once', false],
    ['after a welcome', true],
  ])('is away, whatever it sends %s', async (_, welcomes) => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.uint8Array({ minLength: 1 }), message), async (lie) => {
        const port = await listen((socket) => {
          socket.once('data', () => {
            if (!welcomes) socket.write(lie);
            else {
              socket.write(WELCOME);
              socket.once('data', () => socket.write(lie));
            }
            // Whatever a lie leaves open ends.
            setTimeout(() => socket.destroy(), 50);
          });
        });
        for (const failure of await failuresOf(dsnAt(port))) {
          if (failure !== 'answered') expect(failure).toBeInstanceOf(DatabaseAwayError);
        }
      }),
      { numRuns: 60, seed: 5 },
    );
  });
});

describe('an error message', () => {
  const fields = 'SERROR\0C42601\0Mno such thing\0';
  const told = (kind: string, text: string, length = text.length + 4) => {
    const head = Buffer.alloc(5);
    head.write(kind);
    head.writeUInt32BE(length, 1);
    return Buffer.concat([head, Buffer.from(text)]);
  };
  const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
  /** A server that welcomes, and answers a query with this in pieces of a length. */
  const answering = (stream: Buffer, length: number) =>
    listen((socket) => {
      socket.setNoDelay(true).once('data', () => {
        socket.write(WELCOME);
        socket.once('data', async () => {
          for (let at = 0; at < stream.length; at += length) {
            socket.write(stream.subarray(at, at + length));
            await new Promise((resolve) => setImmediate(resolve));
          }
        });
      });
    });

  test.each([1, 3, 7, 1000])('that is whole is a refusal, in pieces of %i bytes', async (length) => {
    const whole = `${fields}\0`;
    // The first query of a connection sets a bound of its own.
    const refusals = [told('N', whole), told('E', whole), ready, told('E', whole), ready];
    const connection = await Connection.open(
      dsnAt(await answering(Buffer.concat(refusals), length)),
      'test',
      ANSWER_MS_MAX,
    );
    await expect(connection.run('SELECT 1')).rejects.toMatchObject({ code: '42601' });
    expect(connection.isOpen).toBe(true);
    await connection.close();
  });

  const bad = [told('E', ''), told('E', 'S'), told('E', fields), told('N', fields), told('E', `${fields}M`)];
  bad.push(told('E', fields.slice(0, -1)), told('E', '', 0), told('N', '', 2 ** 31), told('T', '', 3));

  test.each(bad)('that has no end means that the server is away: %#', async (message) => {
    for (const length of [1, 1000]) {
      const port = await answering(Buffer.concat([told('N', `${fields}\0`), message]), length);
      for (const failure of await failuresOf(dsnAt(port))) expect(failure).toBeInstanceOf(DatabaseAwayError);
    }
  });
});

describe.skipIf(!HAS_POSTGRES)('a way to the server', () => {
  const ways = {
    'resets connections': (near: Socket) => near.resetAndDestroy(),
    'is closed': (near: Socket) => near.destroy(),
    'stands still': (near: Socket, far: Socket) => {
      near.pause();
      far.pause();
    },
    'is half-closed': (near: Socket) => near.end(),
    'is half-closed on the other side': (_: Socket, far: Socket) => far.end(),
    'loses what the server sends': (_: Socket, far: Socket) => far.removeAllListeners('data').resume(),
    'sends what the server did not': (near: Socket) => near.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
  };

  test.each(Object.keys(ways))('that %s means that it is away', async (name) => {
    const { url } = newDsn();
    const real = new URL(url);
    const port = await listen((near) => {
      const far = connect(Number(real.port), real.hostname);
      far.on('error', () => {});
      let hasBegun = false;
      near.on('data', (bytes: Buffer) => {
        far.write(bytes);
        if (!hasBegun && bytes.includes('pg_sleep')) {
          hasBegun = true;
          ways[name as keyof typeof ways](near, far);
        }
      });
      far.on('data', (bytes) => near.write(bytes));
      near.on('close', () => far.destroy());
      closing.push(() => far.destroy());
    });
    const through = new URL(url);
    through.port = String(port);
    const failures = await failuresOf({ ...newDsn(), url: through.href });
    expect(failures).toHaveLength(3);
    for (const failure of failures) expect(failure).toBeInstanceOf(DatabaseAwayError);
  });

  test('that nobody listens at, or whose name is nobody’s, means that it is away', async () => {
    const port = await listen(() => {});
    for (const close of closing.splice(0)) close();
    for (const dsn of [dsnAt(port), { ...dsnAt(port), url: 'postgres://me@furze.invalid/x' }])
      await expect(Connection.open(dsn, 'test')).rejects.toBeInstanceOf(DatabaseAwayError);
  });

  test('is told to callers as a 503, whatever they ask for', async () => {
    const url = 'postgres://me@127.0.0.1:1/x?sslmode=disable';
    const dsn: PostgresDsn = { engine: 'postgres', url, sessionUrl: url, schema: 's' };
    const node = new NodeSession({
      dsn,
      facts: { name: 'n', role: 'server', version: '1', settings: {} },
      position: () => 0,
    });
    const refusal = await node.askForFit().catch((error) => error);
    expect(refusal).toBeInstanceOf(FurzeError);
    expect(refusal.code).toBe('STORE_UNAVAILABLE');
    await node.close();
  });

  test('does not hide what the server refuses', async () => {
    const connection = await Connection.open(newDsn(), 'test');
    await expect(connection.rows('SELECT nothing')).rejects.toMatchObject({ code: '42703' });
    await expect(connection.rows('SELECT $1::text', ['\u0000'])).rejects.toMatchObject({ code: '22021' });
    const refused = await connection.rows('SELECT 1 / 0').catch((error: unknown) => error);
    expect(isAway(refused)).toBe(false);
    expect(await connection.rows('SELECT 1')).toEqual([[1]]);
    await connection.close();
  });
});

test.each([
  'ECONNRESET',
  'EPIPE',
  'ECONNREFUSED',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'EAI_AGAIN',
  'ERR_STREAM_DESTROYED',
])('an error of the system is away: %s', (code) => {
  for (const error of [new Error(code), new TypeError(code), new AggregateError([], code)])
    expect(isAway(classified(Object.assign(error, { code })))).toBe(true);
});

test.each(['08006', '28000', '28P01', '3D000', '42501', '53100', '53300', '57P03', '58030'])(
  'so is a server that cannot do it now, or lets nobody in: %s',
  (code) => {
    expect(isAway(classified(Object.assign(new Error(), { code, severity: 'FATAL' })))).toBe(true);
  },
);

test.each(['22021', '23505', '42601', '42703', 'XX000'])('what it refuses stays what it is: %s', (code) => {
  expect(isAway(classified(Object.assign(new Error(), { code, severity: 'ERROR' })))).toBe(false);
});

test.each([TypeError, RangeError, SyntaxError, ReferenceError])(
  'a fault of a program is none: %o',
  (Fault) => {
    const fault = new Fault('x is not a function');
    expect(classified(fault)).toBe(fault);
  },
);
