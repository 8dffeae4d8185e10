import { DEFAULT_LIMITS } from '../../domain/request-limits.ts';
import { type Effects, NOT_WHOLE, type Point, type VectorEffect } from '../commit-effects.ts';
import type { PostgresDsn } from '../dsn.ts';
import { decodeJournal } from '../journals.ts';
import { beginRecentAt } from '../lmdb/changes/recent-feedback.ts';
import { FEEDBACK_WORDS } from '../lmdb/format/record-layout.ts';
import type { DataTables } from '../lmdb/tables/data-tables.ts';
import { readState, type StoreState, writeState } from '../lmdb/tables/meta-table.ts';
import type { WriteRules } from '../lmdb/tables/writer-messages.ts';
import { FeedbackLoader } from '../lmdb/writer/feedback-loader.ts';
import { FeedbackTypes } from '../lmdb/writer/feedback-types.ts';
import { GroupWriter } from '../lmdb/writer/group-writer.ts';
import { Connection } from './connection.ts';
import { type FeedbackRow, feedbackOf, notesOf, userFeedback } from './user-queries.ts';

/** The rules of writing, for who carries out what was decided elsewhere: they mean nothing there. */
export const NO_RULES: WriteRules = {
  limits: DEFAULT_LIMITS,
  autoInsertUser: true,
  autoInsertItem: true,
  positiveFeedbackTypes: [],
  readFeedbackTypes: [],
};

/** Told how many records are copied, in all. */
export type OnCopied = (records: number) => void;

/** Records that are fetched at once, and written in one transaction. */
const FETCH_RECORDS = 20_000;
/** Vectors likewise, each of up to 16 KiB. */
const FETCH_VECTORS = 500;
/** Users that are fetched at once with all their feedback. */
const FETCH_USERS = 200;
/**
 * The server may have sent all feedback, and wait, while this program still writes millions of records of it: on a slow disk
 * for longer than a transaction may else be idle.
 */
const IDLE_MS_MAX = 600_000;

/**
 * Copies everything as it is at one moment, or all items alone, and how much there is of everything.
 * @param tables without anything in them, and written by nobody else meanwhile
 * @returns the moment
 */
export async function copyAll(
  dsn: PostgresDsn,
  tables: DataTables,
  onCopied: OnCopied,
  isPartial = false,
): Promise<Point> {
  const connection = await Connection.open(dsn, 'furze copying');
  const s = `"${dsn.schema}"`;
  try {
    await beginCopy(connection);
    const [head] = await connection.rows<number[]>(
      `SELECT position, mark, next_user_row, next_item_row, users, items, feedback FROM ${s}.head`,
    );
    const [position, mark, nextUserRow, nextItemRow, users, items, feedback] = head as [number, ...number[]];
    const point = { position, mark: mark! };
    let copied = 0;
    const tell = (records: number) => onCopied((copied += records));
    await copyEntities(
      connection,
      s,
      new GroupWriter(tables, NO_RULES),
      isPartial ? ['items'] : ['users', 'items'],
      tell,
    );
    const types = await connection.rows<[number, string]>(`SELECT type, name FROM ${s}.types ORDER BY type`);
    if (isPartial)
      tables.engine.transact(() => {
        const counts = { nextUserRow, nextItemRow, users, items, feedback };
        const state = { ...readState(tables), ...counts } as StoreState;
        new FeedbackTypes(tables, state).add(types.map(([, name]) => name));
        writeState(tables, state);
        beginRecentAt(tables, point);
      });
    else await copyFeedback(connection, s, new FeedbackLoader(tables, types), tell);
    await connection.run('COMMIT');
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

const NOTHING: Effects = {
  ...{ deletedUserIds: [], deletedItemIds: [], users: [], items: [] },
  ...{ feedback: [], journals: [] },
};

async function copyEntities(
  connection: Connection,
  s: string,
  copy: GroupWriter,
  kinds: readonly ('users' | 'items')[],
  tell: (more: number) => void,
): Promise<void> {
  const put = (part: Partial<Effects>) =>
    copy.replicate([{ ...NOT_WHOLE, parts: [{ ...NOTHING, ...part }] }]);
  for (const kind of kinds) {
    const one = kind.slice(0, -1);
    const idField = kind === 'users' ? 'UserId' : 'ItemId';
    const query = `SELECT ${one}_row, ${one}_id, detail FROM ${s}.${kind} ORDER BY ${one}_row`;
    for await (const rows of fetchAll<EntityRow>(connection, query)) {
      put({ [kind]: rows.map(([row, id, detail]) => [row, { [idField]: id, ...detail }]) });
      tell(rows.length);
    }
  }
  const query = `SELECT item_row, space, numbers FROM ${s}.vectors ORDER BY item_row, space`;
  for await (const vectors of fetchAll<VectorEffect>(connection, query, FETCH_VECTORS)) put({ vectors });
  const rows = await connection.rows<[string, string]>(`SELECT name, entries FROM ${s}.journals`);
  if (rows.length > 0) put({ journals: rows.map(([name, entries]) => [name, decodeJournal(entries)]) });
}

/**
 * Copies the feedback of all users, both in the order of rows, without that of items that are gone.
 * @param connection in a transaction that `beginCopy` began
 */
async function copyFeedback(
  connection: Connection,
  s: string,
  loader: FeedbackLoader,
  tell: (more: number) => void,
): Promise<void> {
  // By the index of pairs, whatever the planner knows of the tables.
  await connection.run('SET LOCAL jit = off; SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off');
  const gone = await connection.rows<[number]>(`SELECT row FROM ${s}.removals WHERE NOT is_user`);
  const goneItems = new Set(gone.map(([row]) => row));
  const isThere = gone.length === 0 ? '' : `WHERE item_row <> ALL('{${gone.join()}}')`;
  const from = feedbackOf(`(SELECT * FROM ${s}.feedback ${isThere} ORDER BY user_row, item_row)`);
  const query = `SELECT u.user_row, ${from}, ${notesOf(s)} FROM ${s}.head h, ${s}.users u ORDER BY u.user_row`;
  for await (const rows of fetchAll<FeedbackRow>(connection, query, FETCH_USERS)) {
    const users = rows.map(userFeedback);
    for (const { row, feedback } of users)
      for (let at = 0; at < feedback.length; at += FEEDBACK_WORDS)
        loader.add(row, feedback[at]!, feedback[at + 1]!, feedback[at + 2]!);
    const notes = users.flatMap((user) => user.notes.map((note) => ({ userRow: user.row, ...note })));
    if (notes.length > 0) loader.putNotes(notes.filter(({ itemRow }) => !goneItems.has(itemRow)));
    tell(users.reduce((sum, { feedback }) => sum + feedback.length / FEEDBACK_WORDS, 0));
  }
  loader.finish();
}

/** The rows of a query in pieces; the next piece is asked for while one is worked on. */
export async function* fetchAll<T extends readonly unknown[]>(
  connection: Connection,
  query: string,
  rowsMax = FETCH_RECORDS,
): AsyncGenerator<T[]> {
  const fetch = () => connection.rows<T>(`FETCH ${rowsMax} FROM everything`);
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
