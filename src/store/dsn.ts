import { FurzeError } from '../domain/errors.ts';
import { maskDsn } from '../domain/mask-dsn.ts';

/** A store in a folder of this machine. */
export interface LmdbDsn {
  readonly engine: 'lmdb';
  readonly path: string;
}

/** A PostgreSQL database, and the schema in it that holds the tables. */
export interface PostgresDsn {
  readonly engine: 'postgres';
  /** What the driver connects by. It may hold a password: never logged. */
  readonly url: string;
  readonly schema: string;
}

export type Dsn = LmdbDsn | PostgresDsn;

const LMDB_SCHEME = 'lmdb://';
const POSTGRES_SCHEME = /^postgres(ql)?:\/\//;
const DEFAULT_SCHEMA = 'furze';
/** What stands in SQL as it is, between quotes. */
const SCHEMA_FORM = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/**
 * What a DSN names: `lmdb://PATH`, a relative path being relative to the working directory, or
 * `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full&schema=NAME`.
 * @throws FurzeError INVALID_PARAMETER for another scheme, or one without what it needs; the message holds no password
 */
export function parseDsn(dsn: string): Dsn {
  if (POSTGRES_SCHEME.test(dsn)) return parsePostgres(dsn);
  if (!dsn.startsWith(LMDB_SCHEME)) {
    const scheme = /^[a-z0-9+.-]+(?=:\/\/)/i.exec(dsn)?.[0];
    const found = scheme === undefined ? 'has no scheme' : `has the scheme "${scheme}"`;
    throw refuse(`A store is named lmdb://PATH or postgres://HOST/DATABASE; this name ${found}.`);
  }
  const path = dsn.slice(LMDB_SCHEME.length);
  if (path === '') throw refuse('The store lmdb:// has no path after its scheme.');
  return { engine: 'lmdb', path };
}

/** The folder that a DSN names. @throws FurzeError INVALID_PARAMETER when it names none */
export function folderOf(dsn: string): string {
  const parsed = parseDsn(dsn);
  if (parsed.engine === 'lmdb') return parsed.path;
  throw refuse(`A folder is named lmdb://PATH; ${maskDsn(dsn)} names none.`);
}

function parsePostgres(dsn: string): PostgresDsn {
  let url: URL;
  try {
    url = new URL(dsn);
  } catch {
    throw refuse(
      'The postgres:// store is no URL; blanks and signs in a password are written as %40 and the like.',
    );
  }
  if (url.pathname.length < 2)
    throw refuse('The postgres:// store names no database: postgres://HOST/DATABASE.');
  const schema = url.searchParams.get('schema') ?? DEFAULT_SCHEMA;
  if (!SCHEMA_FORM.test(schema))
    throw refuse('The schema of a postgres:// store is letters, digits and underscores, at most 63.');
  url.searchParams.delete('schema');
  return { engine: 'postgres', url: url.href, schema };
}

function refuse(message: string): FurzeError {
  return new FurzeError('INVALID_PARAMETER', message);
}
