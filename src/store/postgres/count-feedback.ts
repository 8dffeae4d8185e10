import { setTimeout as sleep } from 'node:timers/promises';
import { FeedbackColumns, type FeedbackPosition } from '../data-store.ts';
import type { PostgresDsn } from '../dsn.ts';
import { unpackTimeMs, unpackType } from '../lmdb/format/record-layout.ts';
import type { LmdbDataReader } from '../lmdb/reads/lmdb-data-reader.ts';
import { countsByTime, decodeOccurrences } from '../repeats.ts';
import { Connection } from './connection.ts';
import { beginCopy, fetchAll, goneRows } from './copy-all.ts';
import { timeMsOf, typeOf } from './packed-type-and-time.ts';

/** Records that are handed out at a time. */
const BLOCK_RECORDS = 65_536;
/** Time in which the copy must have what the database had when the reading began. */
const REACH_MS_MAX = 30_000;
const LOOK_MS = 50;

type ValueRow = readonly [userRow: number, itemRow: number, type: number, timeMs: number, value: number];
type RepeatRow = readonly [
  userRow: number,
  itemRow: number,
  type: number,
  value: number,
  occurrences: Buffer,
];

/**
 * Hands out all feedback there is in the database at one moment, for a node that has no copy of it: each event, in no order, with the
 * numbers of types that the node's copy of items has.
 * @param visit takes a block, which is good until the next one
 * @returns the moment, as the node's copy tells it
 * @throws Error when the copy does not come to show as much
 */
export async function readAllFeedback(
  dsn: PostgresDsn,
  reader: LmdbDataReader,
  visit: (block: FeedbackColumns) => void,
): Promise<FeedbackPosition> {
  const connection = await Connection.open(dsn, 'furze counting');
  const s = `"${dsn.schema}"`;
  const { local } = reader;
  try {
    await beginCopy(connection);
    const [head] = await connection.rows<[number]>(`SELECT position FROM ${s}.head`);
    const position = await reached(reader, head![0]);
    const gone = await goneRows(connection, s);
    const names = await connection.rows<[number, string]>(`SELECT type, name FROM ${s}.types`);
    const own = local.storedTypes();
    const numbers = new Map(names.map(([type, name]) => [type, own.indexOf(name)]));
    const valued = names.filter(([, name]) => local.goesByValue(name)).map(([type]) => type);
    const kindOf = (type: number, value: number) => local.kindNumber(numbers.get(type)!, value);
    const block = new FeedbackColumns(BLOCK_RECORDS);
    const push = (userRow: number, itemRow: number, type: number, timeMs: number) => {
      if (gone.users.has(userRow) || gone.items.has(itemRow)) return;
      block.push(userRow, itemRow, type, timeMs);
      if (block.length < BLOCK_RECORDS) return;
      visit(block);
      block.clear();
    };
    const byType = `${typeOf('f.type_time')} = ANY('{${valued.join(',')}}')`;
    await connection.copyOut(
      `COPY (SELECT user_row, item_row, type_time FROM ${s}.feedback f WHERE NOT ${byType}) TO STDOUT (FORMAT binary)`,
      (userRow, itemRow, high, low) =>
        push(userRow, itemRow, numbers.get(unpackType(high))!, unpackTimeMs(low, high)),
    );
    const noted = `n.user_row = f.user_row AND n.item_row = f.item_row AND n.type = ${typeOf('f.type_time')}`;
    const values = `SELECT f.user_row, f.item_row, ${typeOf('f.type_time')}, ${timeMsOf('f.type_time')}, coalesce(n.value, 0)
      FROM ${s}.feedback f LEFT JOIN ${s}.notes n ON ${noted} WHERE ${byType}`;
    for await (const rows of valued.length > 0 ? fetchAll<ValueRow>(connection, values) : [])
      for (const [userRow, itemRow, type, timeMs, value] of rows)
        push(userRow, itemRow, kindOf(type, value), timeMs);
    // Of feedback that happened several times its record tells the latest event.
    const repeats = `SELECT user_row, item_row, type, value, occurrences FROM ${s}.notes WHERE occurrences IS NOT NULL`;
    for await (const rows of fetchAll<RepeatRow>(connection, repeats))
      for (const [userRow, itemRow, type, value, bytes] of rows) {
        const counts = countsByTime(decodeOccurrences(bytes));
        counts.at(-1)![1]--;
        for (const [timeMs, count] of counts)
          for (let at = 0; at < count; at++) push(userRow, itemRow, kindOf(type, value), timeMs);
      }
    visit(block);
    await connection.run('COMMIT');
    return position;
  } finally {
    await connection.close();
  }
}

/** Waits until a copy shows a commit. @returns how the copy tells that moment */
async function reached(reader: LmdbDataReader, position: number): Promise<FeedbackPosition> {
  const endMs = performance.now() + REACH_MS_MAX;
  for (;;) {
    reader.local.refresh();
    const found = reader.local.positionAt(position);
    if (found !== undefined) return found;
    if (performance.now() > endMs) throw new Error('the copy of items does not follow what is committed');
    await sleep(LOOK_MS);
  }
}
