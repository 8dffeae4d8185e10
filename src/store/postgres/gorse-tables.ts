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

interface Table {
  /** The columns of its key, in the order in which it is walked; they come first in `columns`. */
  readonly key: readonly string[];
  readonly columns: readonly string[];
  readonly fields: readonly string[];
}

/** The tables of Gorse 0.4 as its storage/data/sql.go makes them in PostgreSQL. */
const TABLES: Readonly<Record<Kind, Table>> = {
  users: {
    key: ['user_id'],
    columns: ['user_id', `coalesce(labels, '[]')`, `coalesce(subscribe, '[]')`, `coalesce(comment, '')`],
    fields: ['UserId', 'Labels', 'Subscribe', 'Comment'],
  },
  items: {
    key: ['item_id'],
    columns: [
      'item_id',
      'coalesce(is_hidden, false)',
      `coalesce(categories, '[]')`,
      TIME,
      `coalesce(labels, '[]')`,
      `coalesce(comment, '')`,
    ],
    fields: ['ItemId', 'IsHidden', 'Categories', 'Timestamp', 'Labels', 'Comment'],
  },
  feedback: {
    key: ['feedback_type', 'user_id', 'item_id'],
    columns: ['feedback_type', 'user_id', 'item_id', TIME, `coalesce(comment, '')`],
    fields: ['FeedbackType', 'UserId', 'ItemId', 'Timestamp', 'Comment'],
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
      const { key, columns, fields } = TABLES[kind];
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
