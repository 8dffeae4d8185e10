import type { Page } from '../../domain/entities.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import type { PostgresDsn } from '../dsn.ts';
import { Connection } from './connection.ts';

/** Records that are read at once. */
const PAGE_ROWS = 2000;
const NAME_FORM = /^[A-Za-z0-9_]{0,63}$/;
/** `time_stamp` in the form of the API; empty where Gorse has its zero time. */
const TIME = `CASE WHEN time_stamp < '0002-01-01' THEN '' ELSE to_char(time_stamp AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') END`;

type Kind = 'users' | 'items' | 'feedback';

/**
 * The tables of Gorse 0.4 as its storage/data/sql.go makes them in PostgreSQL: SQL of each field. Those of its key, in the order in
 * which it is walked, come first.
 */
const TABLES: Readonly<Record<Kind, Readonly<Record<string, string>>>> = {
  users: {
    UserId: 'user_id',
    Labels: `coalesce(labels, '[]')`,
    Subscribe: `coalesce(subscribe, '[]')`,
    Comment: `coalesce(comment, '')`,
  },
  items: {
    ItemId: 'item_id',
    IsHidden: 'coalesce(is_hidden, false)',
    Categories: `coalesce(categories, '[]')`,
    Timestamp: TIME,
    Labels: `coalesce(labels, '[]')`,
    Comment: `coalesce(comment, '')`,
  },
  feedback: {
    FeedbackType: 'feedback_type',
    UserId: 'user_id',
    ItemId: 'item_id',
    Timestamp: TIME,
    Comment: `coalesce(comment, '')`,
  },
};

/**
 * Opens what reads the users, items and feedback that Gorse keeps in PostgreSQL, in the form of the API.
 * @param dsn with the schema of the tables
 * @param tablePrefix `table_prefix` of Gorse's configuration
 * @throws FurzeError INVALID_PARAMETER for a prefix that is no part of a name, Error when the database cannot be reached
 */
export async function openGorseTables(dsn: PostgresDsn, tablePrefix: string) {
  if (!NAME_FORM.test(tablePrefix))
    throw new FurzeError(
      'INVALID_PARAMETER',
      'A table prefix is letters, digits and underscores, at most 63.',
    );
  const connection = await Connection.open(dsn, 'furze import');
  return {
    /** A page of a table, in the order of its key. @param cursor `''` for the first, then that of the page before */
    async page(kind: Kind, cursor: string): Promise<Page<object>> {
      const fields = Object.keys(TABLES[kind]);
      const columns = Object.values(TABLES[kind]);
      const key = columns.slice(0, kind === 'feedback' ? 3 : 1);
      const after = cursor === '' ? undefined : (JSON.parse(cursor) as string[]);
      const where = after && `WHERE (${key.join()}) > (${key.map((_, at) => `$${at + 1}`).join()})`;
      const rows = await connection.rows(
        `SELECT ${columns.join()} FROM "${dsn.schema}"."${tablePrefix}${kind}" ${where ?? ''} ORDER BY ${key.join()} LIMIT ${PAGE_ROWS}`,
        after,
      );
      const last = rows.length < PAGE_ROWS ? undefined : rows.at(-1)!.slice(0, key.length);
      return {
        cursor: last === undefined ? '' : JSON.stringify(last),
        rows: rows.map((row) => Object.fromEntries(fields.map((field, at) => [field, row[at]]))),
      };
    },
    close: () => connection.close(),
  };
}
