import type { Item, User } from '../../domain/entities.ts';
import { type Effects, NOT_WHOLE, type Point } from '../commit-effects.ts';
import type { PostgresDsn } from '../dsn.ts';
import type { DataTables } from '../lmdb/tables/data-tables.ts';
import type { WriteRules } from '../lmdb/tables/writer-messages.ts';
import { FeedbackLoader } from '../lmdb/writer/feedback-loader.ts';
import { GroupWriter } from '../lmdb/writer/group-writer.ts';
import { decodeOccurrences } from '../repeats.ts';
import { Connection } from './connection.ts';

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
export async function copyAll(
  dsn: PostgresDsn,
  tables: DataTables,
  rules: WriteRules,
  onCopied: OnCopied,
): Promise<Point> {
  const connection = await Connection.open(dsn, 'furze copying');
  const s = `"${dsn.schema}"`;
  try {
    await beginCopy(connection);
    const [head] = await connection.rows<[number, number]>(`SELECT position, mark FROM ${s}.head`);
    const [position, mark] = head!;
    const copied = await copyEntities(connection, s, new GroupWriter(tables, rules), onCopied);
    await copyFeedback(connection, s, tables, (feedback) => onCopied(copied + feedback));
    await connection.run('COMMIT');
    return { position, mark };
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

const NOTHING: Effects = { deletedUserIds: [], deletedItemIds: [], users: [], items: [], feedback: [] };

/** @returns how many users and items there are */
async function copyEntities(
  connection: Connection,
  s: string,
  copy: GroupWriter,
  onCopied: OnCopied,
): Promise<number> {
  let records = 0;
  const take = (part: Partial<Effects>, count: number) => {
    copy.replicate([{ ...NOT_WHOLE, parts: [{ ...NOTHING, ...part }] }]);
    records += count;
    onCopied(records);
  };
  for await (const rows of fetchAll<EntityRow>(
    connection,
    `SELECT user_row, user_id, detail FROM ${s}.users ORDER BY user_row`,
  ))
    take({ users: rows.map(([row, UserId, detail]) => [row, { UserId, ...detail } as User]) }, rows.length);
  for await (const rows of fetchAll<EntityRow>(
    connection,
    `SELECT item_row, item_id, detail FROM ${s}.items ORDER BY item_row`,
  ))
    take({ items: rows.map(([row, ItemId, detail]) => [row, { ItemId, ...detail } as Item]) }, rows.length);
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
async function goneRows(connection: Connection, s: string): Promise<Record<'users' | 'items', Set<number>>> {
  const gone = { users: new Set<number>(), items: new Set<number>() };
  const rows = await connection.rows<[number, boolean]>(`SELECT row, is_user FROM ${s}.removals`);
  for (const [row, isUser] of rows) (isUser ? gone.users : gone.items).add(row);
  return gone;
}

/** The rows of a query in pieces; the next piece is asked for while one is worked on. */
async function* fetchAll<T extends readonly unknown[]>(
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
