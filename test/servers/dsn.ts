import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject } from 'vitest';

let schemas = 0;

/** A schema of the run's PostgreSQL that nobody else uses. */
export function newPostgresDsn(): string {
  return `${inject('postgresUrl')}?schema=t${process.pid}_${++schemas}`;
}

let databases = 0;
const DATABASES_OF_A_FILE = 20;
/** Files of tests by their places; the databases before those of the first are everybody's. */
const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => join(process.cwd(), 'test', name))
  .sort();

/** A database of the run's Redis that no other test has written to. */
export function newRedisDsn(): string {
  if (++databases > DATABASES_OF_A_FILE) throw new Error('a file of tests has no more databases of Redis');
  const { testPath = '' } = expect.getState();
  const file = 1 + files.indexOf(testPath);
  if (file === 0) throw new Error(`${testPath} is no file of tests`);
  return `${inject('redisUrl')}/${file * DATABASES_OF_A_FILE + databases - 1}`;
}
