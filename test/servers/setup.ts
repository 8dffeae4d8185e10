import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of a PostgreSQL server for this run; `''` where there is none. */
    postgresUrl: string;
    /** Of a Redis or Valkey server for this run; `''` where there is none. */
    redisUrl: string;
  }
}

/** Before the first test of the engines: a server of each, one for all tests of the run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
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
  project.provide('postgresUrl', postgres?.url ?? '');
  project.provide('redisUrl', redis?.url ?? '');
  return async () => {
    await Promise.all([postgres?.stop(), redis?.stop()]);
  };
}
