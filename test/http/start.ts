import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type ConfigOverrides, defaultConfig } from '../../src/config/config.ts';
import type { Clock } from '../../src/domain/clock.ts';
import type { EngineWish } from '../../src/http/engine/engine-choice.ts';
import { createLogger } from '../../src/platform/log/log.ts';
import { type Service, startService } from '../../src/service/service.ts';
import { newPostgresDsn } from '../servers/dsn.ts';

/** The answer to a call, its JSON read when it has one. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: ReturnType<typeof JSON.parse>;
}

/** A service on a folder of its own, reached through a real socket. */
export interface TestServer {
  readonly service: Service;
  readonly base: string;
  readonly port: number;
  /** Everything that was logged, a line each. */
  readonly lines: string[];
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Stops the service and starts it again on the same folder. @param between done while none runs */
  restart(between?: () => void): Promise<void>;
  /** Stops the service and removes its folder. */
  stop(): Promise<void>;
}

/** The engine that the tests run over: the one of this system, or the one that the second round of tests asks for. */
export const TEST_ENGINE = (process.env.TEST_HTTP_ENGINE ?? 'auto') as EngineWish;

/**
 * Where the tests keep the data: in LMDB, or, in further rounds of them, in PostgreSQL (`postgres`), where a server that learns
 * nothing answers and a worker learns beside it (`split`).
 */
export const TEST_STORE = process.env.TEST_STORE ?? 'lmdb';

const HOUR_MS = 3_600_000;

export interface TestServerOptions {
  readonly config?: ConfigOverrides;
  readonly clock?: Clock;
  /** The time that has passed, by default that of this machine. */
  readonly elapsedMs?: Clock;
  /** Time from the last feedback to a first fit that nobody asks for, milliseconds. */
  readonly settleMs?: number;
}

/** Starts the whole service with one worker on a temporary LMDB folder and a port that the system chooses. */
export async function startTestServer({
  config = {},
  clock,
  elapsedMs,
  // What comes by the clock comes in no test that does not ask for it, however long it takes.
  settleMs = HOUR_MS,
}: TestServerOptions = {}): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'furze-http-'));
  const lines: string[] = [];
  const dataStore = TEST_STORE === 'lmdb' ? `lmdb://${join(folder, 'data')}` : newPostgresDsn();
  const isSplit = TEST_STORE === 'split' && config.database?.data_store === undefined;
  const log = createLogger('debug', { write: (line: string) => void lines.push(line) });
  const open = (role: 'all' | 'server' | 'worker', name = '') =>
    startService({
      config: defaultConfig({
        ...config,
        server: { port: 0, http_engine: TEST_ENGINE, ...config.server },
        node: { role, ...config.node },
        worker: { threads: 1, ...config.worker },
        recommend: {
          ...config.recommend,
          // What a busy machine takes longer for is still made at once.
          online: { remake_share: 1, ...config.recommend?.online },
          offline: { check_recommend_period: HOUR_MS, ...config.recommend?.offline },
        },
        database: {
          data_store: dataStore,
          replica: `lmdb://${join(folder, `replica${name}`)}`,
          cache_store: isSplit ? sharedLists(dataStore) : `lmdb://${join(folder, 'cache')}`,
          sync: 'commit',
          ...config.database,
        },
      }),
      log,
      settleMs,
      ...(clock !== undefined && { clock }),
      ...(elapsedMs !== undefined && { elapsedMs }),
    });
  const start = async () =>
    isSplit ? besideWorker(await open('worker', '-worker'), () => open('server')) : open('all');
  let service = await start();
  const server: TestServer = {
    get service() {
      return service;
    },
    get port() {
      return service.address.port;
    },
    get base() {
      return `http://127.0.0.1:${service.address.port}`;
    },
    lines,
    async call(method, path, body, headers = {}) {
      const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
      const response = await fetch(server.base + path, {
        method,
        headers,
        ...(text !== undefined && { body: text }),
      });
      const answer = await response.text();
      const isJson = /json/.test(response.headers.get('content-type') ?? '') && answer !== '';
      return {
        status: response.status,
        headers: response.headers,
        text: answer,
        body: isJson ? JSON.parse(answer) : undefined,
      };
    },
    async restart(between) {
      await service.stop();
      between?.();
      service = await start();
    },
    async stop() {
      await service.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return server;
}

/** Where a server and its worker share lists: all tests in one database, since the store's identity is part of each key. */
function sharedLists(dataStore: string): string {
  const redis = inject('redisUrl');
  return redis === '' ? dataStore : `${redis}/0`;
}

/** A server as a service that learns: what it is asked to learn, its worker does, and it waits until it serves that. */
async function besideWorker(worker: Service, openServer: () => Promise<Service>): Promise<Service> {
  const server = await openServer();
  // Until feedback is counted it makes no list while a request waits, and answers known users with fallbacks.
  await server.settled;
  return {
    get address() {
      return server.address;
    },
    data: server.data,
    settled: server.settled,
    get hasModel() {
      return server.hasModel;
    },
    async fit(onProgress) {
      const fitted = await worker.fit(onProgress);
      while (fitted !== undefined && server.generation !== worker.generation)
        await new Promise((resolve) => setTimeout(resolve, 20));
      return fitted;
    },
    get generation() {
      return server.generation;
    },
    searchSettings: () => worker.searchSettings(),
    async stop() {
      await server.stop();
      await worker.stop();
    },
  };
}
