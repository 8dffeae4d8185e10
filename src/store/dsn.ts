import { hasSignsInPassword, withoutUserInfo } from '../config/without-user-info.ts';
import { FurzeError } from '../domain/furze-error.ts';

/** A store in a folder of this machine. */
export interface LmdbDsn {
  readonly engine: 'lmdb';
  readonly path: string;
}

/** A PostgreSQL database, and the schema in it that holds the tables. */
export interface PostgresDsn {
  readonly engine: 'postgres';
  /** Connection options of the driver. It may hold a password: never logged. */
  readonly url: string;
  /** The same for what needs a session of its own, which a pool that lends connections by transaction does not give. */
  readonly sessionUrl: string;
  readonly schema: string;
}

/** Redis or Valkey: one server, or a cluster of which these are known. */
export interface RedisDsn {
  readonly engine: 'redis';
  readonly isCluster: boolean;
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  readonly username: string;
  /** Never logged. */
  readonly password: string;
  /** Number of the database; a cluster has 0 alone. */
  readonly database: number;
  /** Undefined for a connection that is not encrypted. */
  readonly tls: { readonly rootCert: string | undefined } | undefined;
}

export type Dsn = LmdbDsn | PostgresDsn | RedisDsn;

/** A bucket of S3, or of a service that speaks its protocol. */
export interface S3Dsn {
  readonly bucket: string;
  /** What the names of objects begin with: nothing, or folders and a slash. */
  readonly prefix: string;
  readonly region: string;
  /** The service's URL; undefined for that of AWS in the region. */
  readonly endpoint: string | undefined;
  /** Never logged; undefined for what AWS's variables, files and services of the host give. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
}

const LMDB_SCHEME = 'lmdb://';
const POSTGRES_SCHEME = /^postgres(ql)?:\/\//;
const REDIS_FORM =
  /^redis(?<tls>s?)(?<cluster>\+cluster)?:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^@/?]+)(?:\/(?<database>\d*))?(?:\?(?<query>.*))?$/;
const REDIS_PORT = 6379;
/** Of services beside AWS, where none is named. */
const S3_REGION = 'us-east-1';
const DEFAULT_SCHEMA = 'furze';
/** A name or an address, with a port or without. */
const HOST_FORM = /^(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;
/** Names that stand in SQL as they are, between quotes. */
const SCHEMA_FORM = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/**
 * Parses a DSN: `lmdb://PATH`, a relative path being relative to the working directory, or
 * `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full&schema=NAME&direct=HOST:PORT`, `direct` being the server
 * itself behind a pool, or
 * `redis://USER:PASSWORD@HOST:PORT/NUMBER`, with `rediss` for TLS and `?sslrootcert=FILE`, and with `redis+cluster` and
 * `HOST:PORT,HOST:PORT` for a cluster.
 * @throws FurzeError INVALID_PARAMETER for another scheme, or one without what it needs; the message holds no password
 */
export function parseDsn(dsn: string): Dsn {
  if (hasSignsInPassword(dsn))
    throw refuse(
      "A store's name has signs that end its host before the last @: in a name or a password write / as %2F, ? as %3F, # as %23, @ as %40.",
    );
  if (POSTGRES_SCHEME.test(dsn)) return parsePostgres(dsn);
  if (/^rediss?(\+cluster)?:/.test(dsn)) return parseRedis(dsn);
  if (!dsn.startsWith(LMDB_SCHEME)) {
    const scheme = /^[a-z0-9+.-]+(?=:\/\/)/i.exec(dsn)?.[0];
    const found = scheme === undefined ? 'has no scheme' : `has the scheme "${scheme}"`;
    throw refuse(
      `A store is named lmdb://PATH, postgres://HOST/DATABASE or redis://HOST; this name ${found}.`,
    );
  }
  const path = dsn.slice(LMDB_SCHEME.length);
  if (path === '') throw refuse('The store lmdb:// has no path after its scheme.');
  return { engine: 'lmdb', path };
}

/** The folder that a DSN names. @throws FurzeError INVALID_PARAMETER when it names none */
export function folderOf(dsn: string): string {
  const parsed = parseDsn(dsn);
  if (parsed.engine === 'lmdb') return parsed.path;
  throw refuse(`A folder is named lmdb://PATH; ${withoutUserInfo(dsn)} names none.`);
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
  const direct = url.searchParams.get('direct');
  url.searchParams.delete('schema');
  url.searchParams.delete('direct');
  return {
    engine: 'postgres',
    url: url.href,
    sessionUrl: direct === null ? url.href : atHost(url, direct),
    schema,
  };
}

/** The same by way of another server. */
function atHost(url: URL, host: string): string {
  if (!HOST_FORM.test(host) || !URL.canParse(`postgres://${host}`))
    throw refuse('The direct=HOST:PORT of a postgres:// store names no server.');
  const other = new URL(url);
  other.port = '';
  other.host = host;
  return other.href;
}

function parseRedis(dsn: string): RedisDsn {
  const { tls, cluster, user, password, hosts, database, query } = REDIS_FORM.exec(dsn)?.groups ?? {};
  if (hosts === undefined)
    throw refuse(
      'A redis:// store is named redis://USER:PASSWORD@HOST:PORT/NUMBER; signs in a password are written as %40 and the like.',
    );
  const isCluster = cluster !== undefined;
  const nodes = hosts.split(',').map(parseHost);
  if (!isCluster && nodes.length > 1)
    throw refuse('A redis:// store has one host; several are named redis+cluster://HOST:PORT,HOST:PORT.');
  if (isCluster && Number(database ?? 0) > 0) throw refuse('A cluster of Redis has the database 0 alone.');
  const params = new URLSearchParams(query);
  for (const name of params.keys())
    if (name !== 'sslrootcert' || tls === '')
      throw refuse(`A redis:// store knows no ${name}; rediss:// knows sslrootcert.`);
  return {
    engine: 'redis',
    isCluster,
    nodes,
    username: decode(user ?? ''),
    password: decode(password ?? ''),
    database: Number(database ?? 0),
    tls: tls === '' ? undefined : { rootCert: params.get('sslrootcert') ?? undefined },
  };
}

/**
 * Parses `s3://KEY:SECRET@BUCKET/PREFIX?region=REGION&endpoint=URL`, of which the configuration has checked the form.
 * @returns undefined for `''`
 */
export function parseS3(dsn: string): S3Dsn | undefined {
  if (dsn === '') return undefined;
  const { username, password, hostname: bucket, pathname, searchParams } = new URL(dsn);
  const prefix = pathname.replace(/\/*$/, '/').slice(1);
  const keys = { accessKeyId: decode(username), secretAccessKey: decode(password) };
  const [region, endpoint] = ['region', 'endpoint'].map((name) => searchParams.get(name) ?? undefined);
  return { bucket, prefix, region: region ?? S3_REGION, endpoint, credentials: username ? keys : undefined };
}

function parseHost(text: string): { host: string; port: number } {
  const { name, port } = /^\[?(?<name>[^\]]+?)\]?(?::(?<port>\d+))?$/.exec(text)?.groups ?? {};
  const number = Number(port ?? REDIS_PORT);
  if (name === undefined || number < 1 || number > 65535)
    throw refuse('A host of a redis:// store is named HOST:PORT.');
  return { host: name, port: number };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw refuse('The name or the password of a store has a % that stands for no sign: write it as %25.');
  }
}

function refuse(message: string): FurzeError {
  return new FurzeError('INVALID_PARAMETER', message);
}
