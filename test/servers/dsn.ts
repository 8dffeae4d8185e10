import { inject } from 'vitest';

let schemas = 0;

/** A schema of the run's PostgreSQL that nobody else uses. */
export function newPostgresDsn(): string {
  return `${inject('postgresUrl')}?schema=t${process.pid}_${++schemas}`;
}

let databases = 0;

/** A database of the run's Redis that nobody else uses. */
export function newRedisDsn(): string {
  // Each process of the run has numbers of its own.
  return `${inject('redisUrl')}/${(Number(process.env.VITEST_POOL_ID ?? 1) * 100 + ++databases) % 1000}`;
}
