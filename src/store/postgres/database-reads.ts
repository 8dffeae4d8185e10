import type { Feedback, Page, User } from '../../domain/entities.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import { DEFAULT_LIMITS } from '../../domain/request-limits.ts';
import { formatTimestamp } from '../../domain/rfc3339.ts';
import type { DataReader, StoreStats } from '../data-store.ts';
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
/** Records of a user that are asked for at once of all that there are. */
const WALK_RECORDS = 1000;

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

const ANSWERS = [
  'getUser',
  'getUsers',
  'getFeedbackPage',
  'getFeedback',
  'getPairFeedback',
  'getUserFeedback',
  'getItemFeedback',
  'walkUserFeedback',
  'walkItemFeedback',
  'getItemUsers',
] as const;

/** The reads of all data, out of the database itself. */
export class DatabaseReads
  implements Omit<DataReader, 'local' | 'getTables' | 'close' | 'getItem' | 'getItems'>
{
  private readonly link: Link;
  private readonly s: string;
  private readonly pageBytesMax: number;
  private readonly events = new WeakMap<Feedback, Occurrences>();

  constructor(dsn: PostgresDsn, link: Link, pageBytesMax = DEFAULT_LIMITS.pageBytesMax) {
    this.s = `"${dsn.schema}"`;
    this.link = link;
    this.pageBytesMax = pageBytesMax;
  }

  /** The reads that take the place of those of a store whose copy lacks what they go by. */
  answers(): Pick<DataReader, (typeof ANSWERS)[number]> {
    const answers = ANSWERS.map((name) => [name, (this[name] as () => unknown).bind(this)]);
    return Object.fromEntries(answers) as Pick<DataReader, (typeof ANSWERS)[number]>;
  }

  /** See `LocalReads.occurrences`. */
  occurrences(feedback: Feedback): Occurrences | undefined {
    return this.events.get(feedback);
  }

  async getUser(userId: string): Promise<User | undefined> {
    const rows = await this.look<[object]>(`SELECT detail FROM ${this.s}.users WHERE user_id = $1`, [userId]);
    return rows[0] && ({ UserId: userId, ...rows[0][0] } as User);
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

  async getFeedback(feedbackType: string, userId: string, itemId: string): Promise<Feedback | undefined> {
    return (await this.pair(userId, itemId, feedbackType))[0];
  }

  getPairFeedback(userId: string, itemId: string): Promise<Feedback[]> {
    return this.pair(userId, itemId);
  }

  async getUserFeedback(userId: string, feedbackType?: string): Promise<Feedback[]> {
    const rows = await this.look<FeedbackRow>(
      `${this.select()} WHERE u.user_id = $2 AND ($1::text IS NULL OR t.name = $1) ORDER BY f.item_row, ${TYPE}`,
      [feedbackType ?? null, userId],
    );
    return rows.map((row) => this.feedback(row));
  }

  async getItemFeedback(itemId: string, feedbackType?: string): Promise<Feedback[]> {
    const all: Feedback[] = [];
    for await (const slice of this.walkItemFeedback(itemId, feedbackType))
      for (const each of slice) all.push(each);
    return all;
  }

  /** Some at a time: what a slow caller has not taken yet stays in the database. */
  async *walkUserFeedback(userId: string, feedbackType?: string): AsyncGenerator<readonly Feedback[]> {
    let [itemRow, type] = [-1, -1];
    for (;;) {
      const rows = await this.look<FeedbackRow>(
        `${this.select()} WHERE u.user_id = $2 AND f.item_row >= $3::int4 AND (f.item_row, ${TYPE}) > ($3, $4::int2)
         AND ($1::text IS NULL OR t.name = $1) ORDER BY f.item_row, ${TYPE} LIMIT ${WALK_RECORDS}`,
        [feedbackType ?? null, userId, itemRow, type],
      );
      const found = rows.map((row) => this.feedback(row));
      for (let at = 0; at < found.length; at += SLICE_RECORDS) yield found.slice(at, at + SLICE_RECORDS);
      const last = rows[WALK_RECORDS - 1];
      if (last === undefined) return;
      [, itemRow, type] = last;
    }
  }

  async *walkItemFeedback(itemId: string, feedbackType?: string): AsyncGenerator<readonly Feedback[]> {
    const userRows = await this.itemUsers('i.item_id = $1', itemId);
    for (let at = 0; at < userRows.length; at += SLICE_RECORDS) {
      const rows = await this.look<FeedbackRow>(
        `${this.select()} WHERE i.item_id = $2 AND f.user_row = ANY($3::int4[]) AND ($1::text IS NULL OR t.name = $1)
         ORDER BY f.user_row, ${TYPE}`,
        [feedbackType ?? null, itemId, [...userRows.subarray(at, at + SLICE_RECORDS)]],
      );
      yield rows.map((row) => this.feedback(row));
    }
  }

  getItemUsers(itemRow: number): Promise<Uint32Array> {
    return this.itemUsers('i.item_row = $1', itemRow);
  }

  async getStats(): Promise<StoreStats> {
    const rows = await this.look<[number, number, number]>(
      `SELECT users, items, feedback FROM ${this.s}.head`,
      [],
    );
    const [users, items, feedback] = rows[0]!;
    return { users, items, feedback, bytes: 0 };
  }

  /** Distinct rows of the users with feedback on an item, ascending. @param where SQL that tells the item by `$1` */
  private async itemUsers(where: string, value: unknown): Promise<Uint32Array> {
    const { s } = this;
    const [row] = await this.look<[Buffer | null]>(
      `SELECT string_agg(DISTINCT int4send(f.user_row), ''::bytea ORDER BY int4send(f.user_row))
       FROM ${s}.items i JOIN ${s}.feedback f ON f.item_row = i.item_row WHERE ${where}`,
      [value],
    );
    const bytes = row![0] ?? Buffer.alloc(0);
    return Uint32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readUInt32BE(at * 4));
  }

  private async pair(userId: string, itemId: string, feedbackType?: string): Promise<Feedback[]> {
    const rows = await this.look<FeedbackRow>(
      `${this.select()} WHERE u.user_id = $2 AND i.item_id = $3 AND ($1::text IS NULL OR t.name = $1) ORDER BY ${TYPE}`,
      [feedbackType ?? null, userId, itemId],
    );
    return rows.map((row) => this.feedback(row));
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
