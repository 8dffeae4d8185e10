import { setTimeout as sleep } from 'node:timers/promises';
import type { Point } from '../commit-effects.ts';
import { FeedbackColumns, type FeedbackPosition } from '../data-store.ts';
import type { PostgresDsn } from '../dsn.ts';
import { ChangeLog } from '../lmdb/changes/change-log.ts';
import { unpackTimeMs, unpackType } from '../lmdb/format/record-layout.ts';
import type { LmdbDataReader } from '../lmdb/reads/lmdb-data-reader.ts';
import type { LmdbLocalReads } from '../lmdb/reads/lmdb-local-reads.ts';
import { countsByTime, decodeOccurrences } from '../repeats.ts';
import { Connection } from './connection.ts';
import { beginCopy, fetchAll } from './copy-all.ts';
import { follows } from './follow-commits.ts';
import { typeOf } from './packed-type-and-time.ts';
import { commitsAfter } from './read-commits.ts';
import { tellFeedback } from './tell-feedback.ts';

/** Records that are handed out at a time. */
const BLOCK_RECORDS = 65_536;
/** Pages of a table that are read at once, some two hundred records each. */
const PAGES = 512;
/** Bytes of a packed record: i32 user row, i32 item row, i64 type and time, big-endian; and of its value, f64. */
const RECORD_BYTES = 16;
const VALUE_BYTES = 8;
/** Time in which the copy must have what the database had when the reading began. */
const REACH_MS_MAX = 30_000;
const LOOK_MS = 50;

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
    const position = await reached(local, head![0]);
    const names = await connection.rows<[number, string]>(`SELECT type, name FROM ${s}.types`);
    const own = local.storedTypes();
    const numbers = new Map(names.map(([type, name]) => [type, own.indexOf(name)]));
    const valued = new Set(names.filter(([, name]) => local.kinds.concern(name)).map(([type]) => type));
    const kindOf = (type: number, value: number) => {
      const number = numbers.get(type)!;
      return valued.has(type) ? local.kinds.numberOf(number, own[number]!, value) : number;
    };
    const removals = await connection.rows<[number, boolean]>(`SELECT row, is_user FROM ${s}.removals`);
    const gone = [new Set<number>(), new Set<number>()] as const;
    for (const [row, isUser] of removals) gone[isUser ? 0 : 1].add(row);
    const block = new FeedbackColumns(BLOCK_RECORDS);
    const push = (userRow: number, itemRow: number, type: number, timeMs: number) => {
      if (gone[0].has(userRow) || gone[1].has(itemRow)) return;
      block.push(userRow, itemRow, type, timeMs);
      if (block.length < BLOCK_RECORDS) return;
      visit(block);
      block.clear();
    };
    const bytesEach = RECORD_BYTES + (valued.size > 0 ? VALUE_BYTES : 0);
    for await (const bytes of walkPages(connection, s, valued.size > 0))
      for (let at = 0; at < bytes.length; at += bytesEach) {
        const high = bytes.readUInt32BE(at + 8);
        const value = valued.size > 0 ? bytes.readDoubleBE(at + RECORD_BYTES) : 0;
        const timeMs = unpackTimeMs(bytes.readUInt32BE(at + 12), high);
        push(bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4), kindOf(unpackType(high), value), timeMs);
      }
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

/**
 * Hands out what was added (`sign` 1) or removed (-1) by the commits behind a point, up to what the node's copy shows.
 * @param visit takes what may be kept, of types by the numbers of the node's copy
 * @returns the moment, as the node's copy tells it; undefined where what was committed since is not all known
 * @throws Error when the copy does not come to show the point
 */
export async function readFeedbackSince(
  dsn: PostgresDsn,
  { local }: LmdbDataReader,
  since: Point,
  visit: (feedback: FeedbackColumns, sign: 1 | -1) => void,
): Promise<FeedbackPosition | undefined> {
  const connection = await Connection.open(dsn, 'furze counting');
  try {
    await reached(local, since.position);
    // Together, before the thread's snapshot may be another.
    const end = local.replicaPoint!;
    const position = local.positionAt(end.position);
    const types = local.storedTypes();
    let last = since;
    while (last.position < end.position) {
      const { commits } = await commitsAfter(connection, `"${dsn.schema}"`, last.position);
      if (commits.length === 0) return undefined;
      for (const commit of commits) {
        if (last.position === end.position) break;
        if (!follows(last, commit)) return undefined;
        for (const { feedback, isIncomplete } of commit.parts) {
          if (isIncomplete) return undefined;
          const log = new ChangeLog();
          tellFeedback(feedback, local.kinds, (name) => types.indexOf(name), log);
          visit(log.removed, -1);
          visit(log.added, 1);
        }
        last = commit;
      }
    }
    return last.mark === end.mark ? position : undefined;
  } finally {
    await connection.close();
    local.refresh();
  }
}

/** All feedback in the order in which it lies in the table, some pages at a time: packed records, with their values where asked for. */
async function* walkPages(connection: Connection, s: string, withValues: boolean): AsyncGenerator<Buffer> {
  // Nobody may move rows to other pages meanwhile.
  await connection.run(`LOCK TABLE ${s}.feedback IN ACCESS SHARE MODE`);
  const [pages] = await connection.rows<[number]>(
    `SELECT pg_relation_size('${s}.feedback') / current_setting('block_size')::int`,
  );
  const record = `int4send(f.user_row) || int4send(f.item_row) || int8send(f.type_time)`;
  const value = withValues ? ' || float8send(coalesce(n.value, 0))' : '';
  const noted = `LEFT JOIN ${s}.notes n ON n.user_row = f.user_row AND n.item_row = f.item_row AND n.type = ${typeOf('f.type_time')}`;
  for (let page = 0; page < pages![0]; page += PAGES) {
    const [row] = await connection.rows<[Buffer | null]>(
      `SELECT string_agg(${record}${value}, ''::bytea) FROM ${s}.feedback f ${withValues ? noted : ''}
       WHERE f.ctid >= '(${page},0)' AND f.ctid < '(${page + PAGES},0)'`,
    );
    if (row![0] !== null) yield row![0];
  }
}

/** Waits until a copy shows a commit. @returns how the copy tells that moment */
async function reached(local: LmdbLocalReads, position: number): Promise<FeedbackPosition> {
  const endMs = performance.now() + REACH_MS_MAX;
  for (;;) {
    local.refresh();
    const found = local.positionAt(position);
    if (found !== undefined) return found;
    if (performance.now() > endMs) throw new Error('the copy of items does not follow what is committed');
    await sleep(LOOK_MS);
  }
}
