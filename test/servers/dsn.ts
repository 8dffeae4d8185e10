import { inject } from 'vitest';

let schemas = 0;

/** A schema of the run's PostgreSQL that nobody else uses. */
export function newPostgresDsn(): string {
  return `${inject('postgresUrl')}?schema=t${process.pid}_${++schemas}`;
}
