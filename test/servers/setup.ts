import type { TestProject } from 'vitest/node';
import { startPostgres, type TestPostgres } from './postgres.ts';
import { startRedis, type TestRedis } from './redis.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of a PostgreSQL server for this run; `''` where there is none. */
    postgresUrl: string;
    /** Of a Redis or Valkey server for this run; `''` where there is none. */
    redisUrl: string;
  }
}

/** The servers of this run, and how many projects have them: each calls `setup`, in a module of its own. */
interface Running {
  projects: number;
  readonly servers: Promise<readonly [TestPostgres | undefined, TestRedis | undefined]>;
}
const run = globalThis as { serversOfTests?: Running };

/** Before the first test of the engines: a server of each, one for all tests of the run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  run.serversOfTests ??= { projects: 0, servers: start() };
  const running = run.serversOfTests;
  running.projects++;
  const [postgres, redis] = await running.servers;
  project.provide('postgresUrl', postgres?.url ?? '');
  project.provide('redisUrl', redis?.url ?? '');
  return async () => {
    if (--running.projects > 0) return;
    run.serversOfTests = undefined;
    await Promise.all([postgres?.stop(), redis?.stop()]);
  };
}

async function start(): Promise<readonly [TestPostgres | undefined, TestRedis | undefined]> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  if (postgres === undefined) {
    console.warn(
      'SKIPPED the tests over PostgreSQL, those of HTTP among them: there is none on this machine (apt-get install postgresql)',
    );
  }
  if (redis === undefined) {
    console.warn(
      'SKIPPED the tests over Redis: there is no redis-server and no valkey-server on this machine (apt-get install redis-server)',
    );
  }
  return [postgres, redis];
}
