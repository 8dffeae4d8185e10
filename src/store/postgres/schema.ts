import { randomBytes } from 'node:crypto';
import { OperatorError } from '../../domain/operator-error.ts';
import { groupFunctionOf } from './affected-rows-loader.ts';
import { commitProcedureOf } from './commit-procedure.ts';
import type { Connection } from './connection.ts';
import { sqlStateOf } from './database-away-error.ts';
import { userFunctionOf } from './user-queries.ts';

/** Raised when a change of the tables, or of the procedure that commits, makes other programs misread them. */
export const FORMAT_VERSION = 11;
/**
 * Raised with each change of the functions that keeps this format: a node that knows later ones replaces those that are there. All
 * programs of a format call them alike.
 */
export const FUNCTIONS_VERSION = 1;
/** What is refused to a role that does not own them. */
const INSUFFICIENT_PRIVILEGE = '42501';
/** Key of the advisory lock under which tables are made. */
const MAKING_LOCK = 0x66757a65;

/**
 * Makes tables where there are none, in one transaction; two nodes that start at once do not both.
 * @param one of them, or of their indexes, as it stands in SQL
 * @param all SQL that leaves what is there
 */
export async function makeOnce(connection: Connection, one: string, all: string): Promise<void> {
  const [there] = await connection.rows<[boolean]>('SELECT to_regclass($1) IS NOT NULL', [one]);
  if (!there![0]) await connection.run(`SELECT pg_advisory_xact_lock(${MAKING_LOCK}); ${all}`);
}

/**
 * Makes the tables where there are none.
 * @returns the identity of the store
 * @throws OperatorError when another version made them, or the database has another encoding than UTF-8
 */
export async function openSchema(connection: Connection, schema: string): Promise<string> {
  const [encoding] = await connection.rows<[string]>('SHOW server_encoding');
  if (encoding![0] !== 'UTF8')
    throw new OperatorError(
      `The database has the encoding ${encoding![0]}; furze needs UTF8: CREATE DATABASE furze ENCODING 'UTF8' TEMPLATE template0.`,
    );
  const head = `"${schema}".head`;
  const made = randomBytes(16).toString('hex');
  await makeOnce(
    connection,
    head,
    `${tablesOf(schema)}
    INSERT INTO ${head} (format, identity) VALUES (${FORMAT_VERSION}, '${made}') ON CONFLICT DO NOTHING;
    INSERT INTO "${schema}".generation DEFAULT VALUES ON CONFLICT DO NOTHING`,
  );
  // As a whole, since another version may have other columns, and another program any.
  const [row] = await connection.rows<[Readonly<Record<string, unknown>>]>(
    `SELECT to_jsonb(head) FROM ${head} LIMIT 1`,
  );
  const { format, identity } = row?.[0] ?? {};
  if (!Number.isInteger(format))
    throw new OperatorError(`The schema "${schema}" has tables that furze did not make: use another one.`);
  if (format !== FORMAT_VERSION)
    throw new OperatorError(
      `The schema "${schema}" has format version ${format}; this program reads ${FORMAT_VERSION}: use the furze that made it, or a new schema.`,
    );
  await renewFunctions(connection, schema);
  return String(identity);
}

async function renewFunctions(connection: Connection, schema: string): Promise<void> {
  const [row] = await connection.rows<[string | null]>(
    `SELECT obj_description(p.oid, 'pg_proc') FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE n.nspname = $1 AND p.proname = 'commit_group'`,
    [schema],
  );
  if (Number(row?.[0] ?? 0) >= FUNCTIONS_VERSION) return;
  const all = `SELECT pg_advisory_xact_lock(${MAKING_LOCK}); ${functionsOf(`"${schema}"`)}`;
  await connection.run(all).catch((error: unknown) => {
    // Those that are there do the same, and take longer.
    if (sqlStateOf(error) !== INSUFFICIENT_PRIVILEGE) throw error;
  });
}

/**
 * Ids sort by their bytes, as the API's pages do. Feedback is 44 bytes a row, with type and time in one column
 * (`packed-type-and-time.ts`). There is one of a user, an item and a type: whoever holds the lock on `head` has read what there is, so
 * the index of pairs need not be unique, and takes half of what a key of three columns would.
 * Texts that may hold U+0000, which PostgreSQL's text cannot, are `json` or `bytea`.
 */
function tablesOf(schema: string): string {
  const s = `"${schema}"`;
  return `
    CREATE SCHEMA IF NOT EXISTS ${s};
    CREATE TABLE IF NOT EXISTS ${s}.head (
      only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
      format integer NOT NULL, identity text NOT NULL, position bigint NOT NULL DEFAULT 0, mark bigint NOT NULL DEFAULT 0,
      next_user_row integer NOT NULL DEFAULT 0, next_item_row integer NOT NULL DEFAULT 0,
      types_version integer NOT NULL DEFAULT 0, has_notes boolean NOT NULL DEFAULT false,
      users bigint NOT NULL DEFAULT 0, items bigint NOT NULL DEFAULT 0, feedback bigint NOT NULL DEFAULT 0
    ) WITH (fillfactor = 20);
    CREATE TABLE IF NOT EXISTS ${s}.types (type smallint PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE);
    CREATE TABLE IF NOT EXISTS ${s}.users (
      user_row integer PRIMARY KEY, user_id text COLLATE "C" NOT NULL UNIQUE, detail json NOT NULL);
    CREATE TABLE IF NOT EXISTS ${s}.items (
      item_row integer PRIMARY KEY, item_id text COLLATE "C" NOT NULL UNIQUE, detail json NOT NULL);
    CREATE TABLE IF NOT EXISTS ${s}.feedback (
      type_time bigint NOT NULL, user_row integer NOT NULL, item_row integer NOT NULL);
    CREATE INDEX IF NOT EXISTS feedback_pair ON ${s}.feedback (user_row, item_row);
    CREATE INDEX IF NOT EXISTS feedback_item ON ${s}.feedback (item_row);
    CREATE TABLE IF NOT EXISTS ${s}.notes (
      user_row integer NOT NULL, item_row integer NOT NULL, type smallint NOT NULL,
      value double precision NOT NULL, comment bytea NOT NULL, occurrences bytea, PRIMARY KEY (user_row, item_row, type));
    CREATE TABLE IF NOT EXISTS ${s}.removals (
      row integer NOT NULL, is_user boolean NOT NULL, PRIMARY KEY (row, is_user));
    CREATE TABLE IF NOT EXISTS ${s}.journals (name text COLLATE "C" PRIMARY KEY, entries text NOT NULL);
    CREATE TABLE IF NOT EXISTS ${s}.vectors (
      item_row integer NOT NULL, space text COLLATE "C" NOT NULL, numbers bytea NOT NULL, PRIMARY KEY (item_row, space));
    ALTER TABLE ${s}.vectors ALTER COLUMN numbers SET STORAGE EXTERNAL;
    CREATE TABLE IF NOT EXISTS ${s}.changes (
      position bigint PRIMARY KEY, mark bigint NOT NULL, mark_before bigint NOT NULL,
      at timestamptz NOT NULL, touched integer[] NOT NULL, user_base integer NOT NULL, user_shift integer NOT NULL,
      item_base integer NOT NULL, item_shift integer NOT NULL, body bytea NOT NULL);
    ALTER TABLE ${s}.changes ALTER COLUMN body SET STORAGE EXTERNAL, ALTER COLUMN touched SET STORAGE EXTERNAL;
    ${functionsOf(s)}
    ${sharedTablesOf(s)}`;
}

/** The functions, and their version as a comment on the procedure. */
export function functionsOf(s: string): string {
  return `
    ${commitProcedureOf(s)}
    ${userFunctionOf(s)}
    ${groupFunctionOf(s)}
    COMMENT ON PROCEDURE ${s}.commit_group IS '${FUNCTIONS_VERSION}';`;
}

/** Tables that nodes share beside the data: the generation that all serve, who leads and how far the pass is, the parts of models, and who is there. */
function sharedTablesOf(s: string): string {
  return `
    CREATE TABLE IF NOT EXISTS ${s}.generation (
      only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
      epoch bigint NOT NULL DEFAULT 0, leader text NOT NULL DEFAULT '', number bigint NOT NULL DEFAULT 0, mark json,
      parts text[] NOT NULL DEFAULT '{}', parts_before text[] NOT NULL DEFAULT '{}', published_at timestamptz,
      fits_asked bigint NOT NULL DEFAULT 0, pass bigint NOT NULL DEFAULT 0, pass_generation bigint NOT NULL DEFAULT 0,
      pass_settings text NOT NULL DEFAULT '', pass_position bigint NOT NULL DEFAULT 0,
      pass_users bigint NOT NULL DEFAULT 0, pass_done bigint NOT NULL DEFAULT 0) WITH (fillfactor = 20);
    CREATE TABLE IF NOT EXISTS ${s}.pass_blocks (
      pass bigint NOT NULL, block integer NOT NULL, user_rows integer[] NOT NULL, node text, until timestamptz,
      PRIMARY KEY (pass, block)) WITH (fillfactor = 50);
    CREATE UNLOGGED TABLE IF NOT EXISTS ${s}.questions (
      id bigserial PRIMARY KEY, body json NOT NULL, at timestamptz NOT NULL DEFAULT now(), is_taken boolean NOT NULL DEFAULT false,
      answer json);
    CREATE TABLE IF NOT EXISTS ${s}.model_parts (
      name text NOT NULL, chunk integer NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (name, chunk));
    ALTER TABLE ${s}.model_parts ALTER COLUMN bytes SET STORAGE EXTERNAL;
    CREATE TABLE IF NOT EXISTS ${s}.nodes (
      id text PRIMARY KEY, name text NOT NULL, role text NOT NULL, version text NOT NULL, address text NOT NULL,
      generation bigint NOT NULL, lag bigint NOT NULL, seen timestamptz NOT NULL DEFAULT now(),
      settings json NOT NULL) WITH (fillfactor = 50);`;
}
