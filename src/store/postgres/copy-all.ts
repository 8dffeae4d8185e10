import type { Item, User } from '../../domain/entities.ts';
import { type Effects, type FeedbackEffect, NOT_WHOLE, type Point } from '../effects.ts';
import type { GroupWriter } from '../lmdb/writer/group-writer.ts';
import type { PostgresDsn } from '../open/dsn.ts';
import { Connection } from './connection.ts';

/** Told how many records are copied. */
export type OnCopied = (records: number) => void;

/** Records that are fetched at once, and written in one transaction. */
const FETCH_RECORDS = 20_000;

/**
 * Copies everything as it is at one moment.
 * @returns the moment
 */
export async function copyAll(dsn: PostgresDsn, copy: GroupWriter, onCopied: OnCopied): Promise<Point> {
  const connection = await Connection.open(dsn, 'furze copying');
  const s = `"${dsn.schema}"`;
  try {
    await connection.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const [head] = await connection.rows<[number, number]>(`SELECT position, mark FROM ${s}.head`);
    const [position, mark] = head!;
    let records = 0;
    const take = (part: Partial<Effects>, count: number) => {
      copy.replicate({ ...NOT_WHOLE, parts: [{ ...NOTHING, ...part }] });
      records += count;
      onCopied(records);
    };
    for await (const rows of fetchAll<EntityRow>(
      connection,
      `SELECT user_row, user_id, detail FROM ${s}.users`,
    ))
      take({ users: rows.map(([row, UserId, detail]) => [row, { UserId, ...detail } as User]) }, rows.length);
    for await (const rows of fetchAll<EntityRow>(
      connection,
      `SELECT item_row, item_id, detail FROM ${s}.items`,
    ))
      take({ items: rows.map(([row, ItemId, detail]) => [row, { ItemId, ...detail } as Item]) }, rows.length);
    const names = new Map(await connection.rows<[number, string]>(`SELECT type, name FROM ${s}.types`));
    const gone = await goneRows(connection, s);
    for await (const rows of fetchAll<FeedbackRow>(connection, feedbackQuery(s))) {
      const there = rows.filter(([userRow, itemRow]) => !gone.users.has(userRow) && !gone.items.has(itemRow));
      take({ feedback: there.map((row) => effectOf(row, names)) }, there.length);
    }
    await connection.run('COMMIT');
    return { position, mark };
  } finally {
    await connection.close();
  }
}

type EntityRow = readonly [row: number, id: string, detail: object];
type FeedbackRow = readonly [
  userRow: number,
  itemRow: number,
  type: number,
  timeMs: number,
  value: number | null,
  comment: Buffer | null,
];

const NOTHING: Effects = { deletedUserIds: [], deletedItemIds: [], users: [], items: [], feedback: [] };

/** Rows whose feedback is still being removed. */
async function goneRows(connection: Connection, s: string): Promise<Record<'users' | 'items', Set<number>>> {
  const gone = { users: new Set<number>(), items: new Set<number>() };
  const rows = await connection.rows<[number, boolean]>(`SELECT row, is_user FROM ${s}.removals`);
  for (const [row, isUser] of rows) (isUser ? gone.users : gone.items).add(row);
  return gone;
}

/** In the order of the keys, so that each user's feedback comes at once and the copy is written from its begin to its end. */
function feedbackQuery(s: string): string {
  return `SELECT f.user_row, f.item_row, f.type, f.time_ms, n.value, n.comment FROM ${s}.feedback f
    LEFT JOIN ${s}.notes n USING (user_row, item_row, type) ORDER BY user_row, item_row, type`;
}

function effectOf(row: FeedbackRow, names: ReadonlyMap<number, string>): FeedbackEffect {
  const [userRow, itemRow, type, timeMs, value, comment] = row;
  return {
    userRow,
    itemRow,
    type: names.get(type)!,
    timeMs,
    value: value ?? 0,
    comment: comment?.toString() ?? '',
  };
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
