import type { Feedback, Page, User } from '../../domain/entities.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import { DEFAULT_LIMITS } from '../../domain/request-limits.ts';
import { formatTimestamp } from '../../domain/rfc3339.ts';
import type { StoreStats } from '../data-store.ts';
import type { PostgresDsn } from '../dsn.ts';
import {
  decodeCursor,
  decodeFeedbackCursor,
  encodeCursor,
  encodeFeedbackCursor,
} from '../lmdb/format/page-cursor.ts';
import { SLICE_RECORDS, sizeOf } from '../lmdb/reads/lmdb-data-reader.ts';
import { decodeOccurrences, type Occurrences } from '../repeats.ts';
import type { Link } from './connection.ts';
import { isAway } from './database-away-error.ts';
import { timeMsOf, typeOf } from './packed-type-and-time.ts';

const TYPE = typeOf('f.type_time');
// Rows are looked up one by one by their key, however many there are: no plan may read a whole table for them.
const LOOK_UP = `BEGIN READ ONLY; SET LOCAL jit = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
  SET LOCAL enable_seqscan = off`;
type FeedbackRow = readonly [
  userRow: number,
  itemRow: number,
  type: number,
  timeMs: number,
  userId: string,
  itemId: string,
  typeName: string,
  comment: Buffer | null,
  value: number | null,
  occurrences: Buffer | null,
];

/** The reads that go by many users, out of the database itself: see `DataReader`. */
export class DatabaseReads {
  private readonly link: Link;
  private readonly s: string;
  private readonly pageBytesMax: number;
  private readonly events = new WeakMap<Feedback, Occurrences>();

  constructor(dsn: PostgresDsn, link: Link, pageBytesMax = DEFAULT_LIMITS.pageBytesMax) {
    this.s = `"${dsn.schema}"`;
    this.link = link;
    this.pageBytesMax = pageBytesMax;
  }

  /** See `LocalReads.occurrences`. */
  occurrences(feedback: Feedback): Occurrences | undefined {
    return this.events.get(feedback);
  }

  async getUsers(n: number, cursor: string, prefix = ''): Promise<Page<User>> {
    const after = decodeCursor('users', cursor);
    if (n === 0) return { cursor: '', rows: [] };
    const last = after === undefined ? '' : Buffer.from(after).toString();
    const found = await this.look<[string, object]>(
      `SELECT user_id, detail FROM ${this.s}.users
       WHERE user_id > $1 AND user_id >= $2 AND starts_with(user_id, $2) ORDER BY user_id LIMIT $3`,
      [last, prefix, n + 1],
    );
    const users = found.map(([UserId, detail]) => ({ UserId, ...detail }) as User);
    const rows = this.fitting(users, n);
    const end = rows.at(-1)!;
    return { cursor: rows.length < users.length ? encodeCursor('users', Buffer.from(end.UserId)) : '', rows };
  }

  async getFeedbackPage(n: number, cursor: string, feedbackType?: string): Promise<Page<Feedback>> {
    const after = decodeFeedbackCursor(cursor) ?? { userRow: -1, itemRow: -1, type: -1 };
    if (n === 0) return { cursor: '', rows: [] };
    const found = await this.look<FeedbackRow>(
      `${this.select()} WHERE (f.user_row, f.item_row) >= ($2::int4, $3::int4) AND (f.user_row, f.item_row, ${TYPE}) > ($2, $3, $4::int2)
         AND ($1::text IS NULL OR t.name = $1) ORDER BY f.user_row, f.item_row, ${TYPE} LIMIT $5`,
      [feedbackType ?? null, after.userRow, after.itemRow, after.type, n + 1],
    );
    const rows = this.fitting(
      found.map((row) => this.feedback(row)),
      n,
    );
    const last = found[rows.length - 1];
    if (last === undefined || rows.length === found.length) return { cursor: '', rows };
    const [userRow, itemRow, type] = last;
    return { cursor: encodeFeedbackCursor({ userRow, itemRow, type }), rows };
  }

  async *walkItemFeedback(itemRow: number, feedbackType?: string): AsyncGenerator<readonly Feedback[]> {
    const userRows = await this.getItemUsers(itemRow);
    for (let at = 0; at < userRows.length; at += SLICE_RECORDS) {
      const rows = await this.look<FeedbackRow>(
        `${this.select()} WHERE f.item_row = $2 AND f.user_row = ANY($3::int4[]) AND ($1::text IS NULL OR t.name = $1)
         ORDER BY f.user_row, ${TYPE}`,
        [feedbackType ?? null, itemRow, [...userRows.subarray(at, at + SLICE_RECORDS)]],
      );
      yield rows.map((row) => this.feedback(row));
    }
  }

  async getStats(): Promise<StoreStats> {
    const rows = await this.look<[number, number, number]>(
      `SELECT users, items, feedback FROM ${this.s}.head`,
      [],
    );
    const [users, items, feedback] = rows[0]!;
    return { users, items, feedback, bytes: 0 };
  }

  async getItemUsers(itemRow: number): Promise<Uint32Array> {
    const [row] = await this.look<[Buffer | null]>(
      `SELECT string_agg(DISTINCT int4send(f.user_row), ''::bytea ORDER BY int4send(f.user_row))
       FROM ${this.s}.items i JOIN ${this.s}.feedback f USING (item_row) WHERE item_row = $1`,
      [itemRow],
    );
    const bytes = row![0] ?? Buffer.alloc(0);
    return Uint32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readUInt32BE(at * 4));
  }

  private select(): string {
    const { s } = this;
    return `SELECT f.user_row, f.item_row, ${TYPE}, ${timeMsOf('f.type_time')}, u.user_id, i.item_id, t.name, n.comment, n.value, n.occurrences
      FROM ${s}.feedback f JOIN ${s}.users u ON u.user_row = f.user_row JOIN ${s}.items i ON i.item_row = f.item_row
      JOIN ${s}.types t ON t.type = ${TYPE}
      LEFT JOIN ${s}.notes n ON n.user_row = f.user_row AND n.item_row = f.item_row AND n.type = ${TYPE}`;
  }

  private feedback(row: FeedbackRow): Feedback {
    const [, , , timeMs, UserId, ItemId, FeedbackType, comment, value, bytes] = row;
    const occurrences = bytes === null ? undefined : decodeOccurrences(bytes);
    const first = occurrences?.[0] ?? { timeMs, value: value ?? 0 };
    const Comment = comment?.toString() ?? '';
    const record = { FeedbackType, UserId, ItemId, Timestamp: formatTimestamp(first.timeMs), Comment };
    const feedback = first.value === 0 ? record : { ...record, Value: first.value };
    if (occurrences !== undefined) this.events.set(feedback, occurrences);
    return feedback;
  }

  /** As many of the first `n` as a page takes; one at least. */
  private fitting<T extends object>(rows: readonly T[], n: number): T[] {
    let bytes = 0;
    let count = 0;
    while (count < rows.length && count < n && bytes < this.pageBytesMax) bytes += sizeOf(rows[count++]!);
    return rows.slice(0, count);
  }

  /**
   * Rows that are looked up by their keys, however many the planner takes them for.
   * @throws FurzeError STORE_UNAVAILABLE while the database is away
   */
  private async look<T extends readonly unknown[]>(query: string, values: readonly unknown[]): Promise<T[]> {
    try {
      const connection = await this.link.connect();
      const [, rows] = await Promise.all([
        connection.run(LOOK_UP),
        connection.rows<T>(query, values),
        connection.run('COMMIT'),
      ]);
      return rows;
    } catch (error) {
      if (!isAway(error)) throw error;
      throw new FurzeError('STORE_UNAVAILABLE', 'The database does not answer at the moment.');
    }
  }
}
