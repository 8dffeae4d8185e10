import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { parseS3 } from '../../src/store/dsn.ts';
import type { ObjectPlace } from '../../src/store/model-store.ts';
import { freePort } from './free-port.ts';

/** A server that speaks the protocol of S3, for tests alone, with one bucket. */
export interface TestS3 {
  /** The name of a place in the bucket that nobody else has. @param isDirect past the door that `pause` shuts */
  newDsn(isDirect?: boolean): string;
  /** The names of the objects there are below that of a place. */
  names(dsn: string): Promise<string[]>;
  /** Puts other bytes in the place of an object's, beside which stands what stood there before. */
  change(name: string, other: (bytes: Uint8Array) => Uint8Array): Promise<void>;
  remove(name: string): Promise<void>;
  /** Cuts the next connection that brings so many bytes from the server, once. */
  cutAfter(bytes: number): void;
  /** Refuses connections, and ends those that there are. */
  pause(): Promise<void>;
  /** Takes connections again. */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

/** Of the Python package moto[server]; it keeps all in memory and trusts any key. */
const PROGRAM = 'moto_server';
const BUCKET = 'models';
const KEYS = 'test:veiled%2Fsecret';
const START_MS_MAX = 600_000;

/** False where there is no such server, which is said. */
export const HAS_S3 = isThere();
if (!HAS_S3)
  console.warn(
    "SKIPPED the tests over S3: there is no moto_server on this machine (pip install 'moto[server]')",
  );

let places = 0;

/** Starts the machine's server behind a door that can be shut. */
export async function startS3(): Promise<TestS3> {
  const [port, ownPort] = [await freePort(), await freePort()];
  const server = spawn(PROGRAM, ['-H', '127.0.0.1', '-p', String(ownPort)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await isReady(server.stderr);
  server.stderr.resume();
  // It ends with whoever started it, even when that is killed.
  const watch = `while kill -0 ${process.pid} 2> /dev/null && kill -0 ${server.pid} 2> /dev/null; do sleep 1; done; kill -9 ${server.pid} 2> /dev/null`;
  spawn('sh', ['-c', watch], { detached: true, stdio: 'ignore' }).unref();
  const door = openDoor(port, ownPort);
  await door.open();
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
  const credentials = { accessKeyId: 'test', secretAccessKey: 'veiled/secret' };
  const endpoint = `http://127.0.0.1:${ownPort}`;
  const client = new S3Client({ region: 'us-east-1', endpoint, forcePathStyle: true, credentials });
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
  return {
    newDsn: (isDirect = false) =>
      `s3://${KEYS}@${BUCKET}/t${++places}?endpoint=http://127.0.0.1:${isDirect ? ownPort : port}`,
    async names(dsn) {
      const asked = { Bucket: BUCKET, Prefix: parseS3(dsn)!.prefix };
      const { Contents = [] } = await client.send(new ListObjectsV2Command(asked));
      return Contents.map(({ Key = '' }) => Key);
    },
    async change(Key, other) {
      const { Body, Metadata } = await client.send(new GetObjectCommand({ Bucket: BUCKET, Key }));
      const bytes = await Body!.transformToByteArray();
      await client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: other(bytes), Metadata }));
    },
    async remove(Key) {
      await client.send(new DeleteObjectCommand({ Bucket: BUCKET, Key }));
    },
    cutAfter: door.cutAfter,
    pause: door.shut,
    resume: door.open,
    async stop() {
      client.destroy();
      await door.shut();
      server.kill('SIGKILL');
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
    },
  };
}

/** A place of its own in the bucket, as nodes have it. */
export function objectPlace(dsn: string, tag = 'tag'): ObjectPlace {
  return { dsn: parseS3(dsn)!, tag };
}

function openDoor(port: number, to: number) {
  const sockets = new Set<Socket>();
  let cutAt = Number.POSITIVE_INFINITY;
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    far.on('data', () => {
      if (far.bytesRead < cutAt) return;
      cutAt = Number.POSITIVE_INFINITY;
      far.destroy();
    });
    for (const [from, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(from);
          other.destroy();
        });
      from.pipe(other);
    }
  });
  return {
    cutAfter(bytes: number) {
      cutAt = bytes;
    },
    async open() {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    },
    async shut() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function isThere(): boolean {
  try {
    execFileSync(PROGRAM, ['--help'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Reads the log until the server takes connections. */
function isReady(log: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => reject(new Error(`moto_server did not start: ${said}`)), START_MS_MAX);
    log.on('data', (chunk: Buffer) => {
      said = (said + chunk).slice(-4000);
      if (!said.includes('Running on')) return;
      clearTimeout(timer);
      resolve();
    });
    log.on('end', () => reject(new Error(`moto_server ended: ${said}`)));
  });
}
