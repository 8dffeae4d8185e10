import { basename, dirname } from 'node:path';
import { expect, inject } from 'vitest';
import { hashText } from '../../src/domain/hash.ts';

let schemas = 0;

/** A schema of the run's PostgreSQL that nobody else uses. */
export function newPostgresDsn(): string {
  return `${inject('postgresUrl')}?schema=t${process.pid}_${++schemas}`;
}

let databases = 0;
const DATABASES_OF_A_FILE = 20;
const FILES_MAX = 50;

/** A database of the run's Redis that no other test has written to. */
export function newRedisDsn(): string {
  if (++databases > DATABASES_OF_A_FILE) throw new Error('a file of tests has no more databases of Redis');
  const { testPath = '' } = expect.getState();
  const file = hashText(basename(dirname(testPath)) + basename(testPath)) % FILES_MAX;
  return `${inject('redisUrl')}/${file * DATABASES_OF_A_FILE + databases - 1}`;
}
