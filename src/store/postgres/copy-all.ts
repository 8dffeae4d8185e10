import { DEFAULT_LIMITS } from '../../domain/request-limits.ts';
import { type Effects, NOT_WHOLE, type Point } from '../commit-effects.ts';
import type { PostgresDsn } from '../dsn.ts';
import { decodeJournal } from '../journals.ts';
import { beginRecentAt } from '../lmdb/changes/recent-feedback.ts';
import type { DataTables } from '../lmdb/tables/data-tables.ts';
import { readState, type StoreState, writeState } from '../lmdb/tables/meta-table.ts';
import type { WriteRules } from '../lmdb/tables/writer-messages.ts';
import { FeedbackLoader } from '../lmdb/writer/feedback-loader.ts';
import { FeedbackTypes } from '../lmdb/writer/feedback-types.ts';
import { GroupWriter } from '../lmdb/writer/group-writer.ts';
import { decodeOccurrences } from '../repeats.ts';
import { Connection } from './connection.ts';

/** The rules of writing, for who carries out what was decided elsewhere: they mean nothing there. */
export const NO_RULES: WriteRules = {
  limits: DEFAULT_LIMITS,
  autoInsertUser: true,
  autoInsertItem: true,
  positiveFeedbackTypes: [],
  readFeedbackTypes: [],
};

/** Told how many records are copied. */
export type OnCopied = (records: number) => void;

/** Records that are fetched at once, and written in one transaction. */
const FETCH_RECORDS = 20_000;
/** Feedback between two calls of `OnCopied`. */
const TOLD_RECORDS = 65_536;
/**
 * The server may have sent all feedback, and wait, while this program still writes millions of records of it: on a slow disk
 * for longer than a transaction may else be idle.
 */
const IDLE_MS_MAX = 600_000;

/**
 * Copies everything as it is at one moment.
 * @param tables without anything in them, and written by nobody else meanwhile
 * @returns the moment
 */
export async function copyAll(dsn: PostgresDsn, tables: DataTables, onCopied: OnCopied): Promise<Point> {
  const connection = await Connection.open(dsn, 'furze copying');
  const s = `"${dsn.schema}"`;
  try {
    await beginCopy(connection);
    const [head] = await connection.rows<[number, number]>(`SELECT position, mark FROM ${s}.head`);
    const [position, mark] = head!;
    const copied = await copyEntities(connection, s, new GroupWriter(tables, NO_RULES), onCopied);
    await copyFeedback(connection, s, tables, (feedback) => onCopied(copied + feedback));
    await connection.run('COMMIT');
    return { position, mark };
  } finally {
    await connection.close();
  }
}

/**
 * Copies all items as they are at one moment, and how much there is of everything.
 * @param tables as for `copyAll`
 * @returns the moment
 */
export async function copyItems(dsn: PostgresDsn, tables: DataTables, onCopied: OnCopied): Promise<Point> {
  const connection = await Connection.open(dsn, 'furze copying');
  const s = `"${dsn.schema}"`;
  try {
    await beginCopy(connection);
    const [head] = await connection.rows<number[]>(
      `SELECT position, mark, next_user_row, next_item_row, users, items, feedback FROM ${s}.head`,
    );
    const [position, mark, nextUserRow, nextItemRow, users, items, feedback] = head as [number, ...number[]];
    await copyEntities(connection, s, new GroupWriter(tables, NO_RULES), onCopied, ['items']);
    const types = await connection.rows<[string]>(`SELECT name FROM ${s}.types ORDER BY type`);
    await connection.run('COMMIT');
    const point = { position, mark: mark! };
    tables.engine.transact(() => {
      const state = { ...readState(tables), nextUserRow, nextItemRow, users, items, feedback } as StoreState;
      new FeedbackTypes(tables, state).add(types.map(([name]) => name));
      writeState(tables, state);
      beginRecentAt(tables, point);
    });
    return point;
  } finally {
    await connection.close();
  }
}

/** Begins a transaction that sees one moment, and whose one long answer no bound of the server's cuts off. */
export async function beginCopy(connection: Connection): Promise<void> {
  await connection.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  await connection.run(
    `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS_MAX}`,
  );
}

type EntityRow = readonly [row: number, id: string, detail: object];
type NoteRow = readonly [
  userRow: number,
  itemRow: number,
  type: number,
  value: number,
  comment: Buffer,
  occurrences: Buffer | null,
];

const NOTHING: Effects = {
  ...{ deletedUserIds: [], deletedItemIds: [], users: [], items: [] },
  ...{ feedback: [], journals: [] },
};

/** @returns how many there are of both kinds */
async function copyEntities(
  connection: Connection,
  s: string,
  copy: GroupWriter,
  onCopied: OnCopied,
  kinds: readonly ('users' | 'items')[] = ['users', 'items'],
): Promise<number> {
  let records = 0;
  for (const kind of kinds) {
    const one = kind.slice(0, -1);
    const idField = kind === 'users' ? 'UserId' : 'ItemId';
    const query = `SELECT ${one}_row, ${one}_id, detail FROM ${s}.${kind} ORDER BY ${one}_row`;
    for await (const rows of fetchAll<EntityRow>(connection, query)) {
      const part = {
        ...NOTHING,
        [kind]: rows.map(([row, id, detail]) => [row, { [idField]: id, ...detail }]),
      };
      copy.replicate([{ ...NOT_WHOLE, parts: [part] }]);
      records += rows.length;
      onCopied(records);
    }
  }
  const rows = await connection.rows<[string, string]>(`SELECT name, entries FROM ${s}.journals`);
  const journals = rows.map(([name, entries]) => [name, decodeJournal(entries)] as const);
  if (journals.length > 0) copy.replicate([{ ...NOT_WHOLE, parts: [{ ...NOTHING, journals }] }]);
  return records;
}

async function copyFeedback(
  connection: Connection,
  s: string,
  tables: DataTables,
  onCopied: OnCopied,
): Promise<void> {
  const types = await connection.rows<[number, string]>(`SELECT type, name FROM ${s}.types ORDER BY type`);
  const gone = await goneRows(connection, s);
  const isThere = (userRow: number, itemRow: number) => !gone.users.has(userRow) && !gone.items.has(itemRow);
  const nothingGone = gone.users.size + gone.items.size === 0;
  const loader = new FeedbackLoader(tables, types);
  let records = 0;
  // In the order of the key, which its index has: so each user's feedback comes at once, and nothing is sorted.
  await connection.run('SET LOCAL enable_sort = off');
  await connection.copyOut(
    `COPY (SELECT user_row, item_row, type_time FROM ${s}.feedback ORDER BY user_row, item_row) TO STDOUT (FORMAT binary)`,
    (userRow, itemRow, typeAndTime, timeLow) => {
      if (nothingGone || isThere(userRow, itemRow)) loader.add(userRow, itemRow, typeAndTime, timeLow);
      if (++records % TOLD_RECORDS === 0) onCopied(records);
    },
  );
  loader.finish();
  onCopied(records);
  for await (const rows of fetchAll<NoteRow>(
    connection,
    `SELECT user_row, item_row, type, value, comment, occurrences FROM ${s}.notes`,
  ))
    loader.putNotes(
      rows
        .filter(([userRow, itemRow]) => isThere(userRow, itemRow))
        .map(([userRow, itemRow, type, value, comment, occurrences]) => ({
          userRow,
          itemRow,
          type,
          value,
          comment: comment.toString(),
          occurrences: occurrences === null ? undefined : decodeOccurrences(occurrences),
        })),
    );
}

/** Rows whose feedback is still being removed. */
export async function goneRows(
  connection: Connection,
  s: string,
): Promise<Record<'users' | 'items', Set<number>>> {
  const gone = { users: new Set<number>(), items: new Set<number>() };
  const rows = await connection.rows<[number, boolean]>(`SELECT row, is_user FROM ${s}.removals`);
  for (const [row, isUser] of rows) (isUser ? gone.users : gone.items).add(row);
  return gone;
}

/** The rows of a query in pieces; the next piece is asked for while one is worked on. */
export async function* fetchAll<T extends readonly unknown[]>(
  connection: Connection,
  query: string,
): AsyncGenerator<T[]> {
  const fetch = () => connection.rows<T>(`FETCH ${FETCH_RECORDS} FROM everything`);
  await connection.run(`DECLARE everything NO SCROLL CURSOR FOR ${query}`);
  for (let next = fetch(); ; ) {
    const rows = await next;
    if (rows.length === 0) break;
    next = fetch();
    // Nobody waits for it where the copying fails meanwhile.
    next.catch(() => {});
    yield rows;
  }
  await connection.run('CLOSE everything');
}
