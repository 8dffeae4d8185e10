import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type PostgresDsn, parseDsn, parseS3 } from '../../src/store/dsn.ts';
import { withModels } from '../../src/store/open/thread-stores.ts';

/** Answers that come before those of a service that is well. */
let answers: number[];
let asked: string[];
let server: Server;

beforeEach(async () => {
  [answers, asked] = [[], []];
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url?.split('?')[0]}`);
    request.resume().on('end', () => {
      response.statusCode = answers.shift() ?? 200;
      response.end(
        response.statusCode === 200 ? '' : '<Error><Code>SlowDown</Code><Message>busy</Message></Error>',
      );
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function put(told: unknown[], givenUp = new Int32Array(new SharedArrayBuffer(4))): Promise<void> {
  const { port } = server.address() as AddressInfo;
  const place = {
    kind: 'postgres',
    dsn: parseDsn('postgres://nowhere.invalid/shop') as PostgresDsn,
    epoch: 1,
    objects: { dsn: parseS3(`s3://key:s3cret@models/recs?endpoint=http://127.0.0.1:${port}`)!, tag: 'tag' },
    givenUp,
  } as const;
  return withModels(
    place,
    (models) => models.putBlob('als/1-1-1', new Uint8Array(9)),
    (error) => told.push(error),
  );
}

test('a part waits for a bucket that takes none now, which is told once, and the database has no part in it', async () => {
  // The client itself asks thrice.
  answers = Array.from({ length: 7 }, () => 503);
  const told: Error[] = [];
  await put(told);
  expect(asked).toHaveLength(8);
  expect(new Set(asked)).toEqual(new Set(['PUT /models/recs/tag/als/1-1-1/1-of-1']));
  expect(told.map(({ message }) => message)).toEqual(['the bucket models: SlowDown: busy']);
});

test('it waits no more once that is given up', async () => {
  answers = Array.from({ length: 100 }, () => 503);
  const givenUp = new Int32Array(new SharedArrayBuffer(4)).fill(1);
  await expect(put([], givenUp)).rejects.toThrow('the bucket models: SlowDown: busy');
  expect(asked).toHaveLength(3);
});
