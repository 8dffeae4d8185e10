import type { Feedback, Page, User } from '../../domain/entities.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import { formatTimestamp } from '../../domain/rfc3339.ts';
import type { StoreStats } from '../data-store.ts';
import {
  decodeCursor,
  decodeFeedbackCursor,
  encodeCursor,
  encodeFeedbackCursor,
} from '../lmdb/format/page-cursor.ts';
import type { BackupStream } from '../lmdb/maintenance/backup.ts';
import { SLICE_RECORDS, sizeOf } from '../lmdb/reads/lmdb-data-reader.ts';
import type { FromWriter } from '../lmdb/tables/writer-messages.ts';
import { decodeOccurrences, type Occurrences } from '../repeats.ts';
import { isAway } from './database-away-error.ts';
import { timeMsOf, typeOf } from './packed-type-and-time.ts';
import { ReplicatedDataStore, type ReplicatedOptions } from './replicated-data-store.ts';

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

type Loaded = Extract<FromWriter, { kind: 'loaded' }>;

/**
 * The data store on PostgreSQL with a copy of items alone. Users are loaded into it before a request is answered that asks for them
 * (`PartialCopy`); whatever goes by feedback of others is asked of the database.
 */
export class PartialDataStore extends ReplicatedDataStore {
  /** Rows of the users who are here as of the last commit. */
  private readonly known = new Set<number>();
  /** What tells those who wait for users which of them are known; undefined where they could not be loaded. */
  private readonly loads = new Map<number, (known: Loaded['known']) => void>();
  private lastLoad = 0;
  private readonly s: string;
  /** Of feedback that was read out of the database. */
  private readonly events = new WeakMap<Feedback, Occurrences>();

  constructor(options: ReplicatedOptions) {
    super({ ...options, isPartial: true, readsWait: options.behindMsMax === 0 });
    this.s = `"${options.sharedDatabase.schema}"`;
    this.local.isKnown = (userRow) => this.known.has(userRow);
    const own = this.local.occurrences.bind(this.local);
    this.local.occurrences = (feedback) => this.events.get(feedback) ?? own(feedback);
  }

  override async getUser(userId: string): Promise<User | undefined> {
    await this.bring(userId);
    return super.getUser(userId);
  }

  override async getFeedback(type: string, userId: string, itemId: string): Promise<Feedback | undefined> {
    await this.bring(userId);
    return super.getFeedback(type, userId, itemId);
  }

  override async getPairFeedback(userId: string, itemId: string): Promise<Feedback[]> {
    await this.bring(userId);
    return super.getPairFeedback(userId, itemId);
  }

  override async *walkUserFeedback(userId: string, type?: string): AsyncGenerator<readonly Feedback[]> {
    await this.bring(userId);
    const row = this.local.userRow(userId);
    yield* super.walkUserFeedback(userId, type);
    if (this.local.userRow(userId) === row) return;
    await this.bring(userId);
    // Who reads slowly may outlast here a user who is still there, and must not take a part for the whole.
    if (this.local.userRow(userId) === row) throw away();
  }

  override async getUsers(n: number, cursor: string, prefix = ''): Promise<Page<User>> {
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

  override async getFeedbackPage(n: number, cursor: string, type?: string): Promise<Page<Feedback>> {
    const after = decodeFeedbackCursor(cursor) ?? { userRow: -1, itemRow: -1, type: -1 };
    if (n === 0) return { cursor: '', rows: [] };
    const found = await this.look<FeedbackRow>(
      `${this.select()} WHERE (f.user_row, f.item_row) >= ($2::int4, $3::int4) AND (f.user_row, f.item_row, ${TYPE}) > ($2, $3, $4::int2)
         AND ($1::text IS NULL OR t.name = $1) ORDER BY f.user_row, f.item_row, ${TYPE} LIMIT $5`,
      [type ?? null, after.userRow, after.itemRow, after.type, n + 1],
    );
    const records = found.map((row) => this.feedback(row));
    const rows = this.fitting(records, n);
    const last = found[rows.length - 1];
    if (last === undefined || rows.length === found.length) return { cursor: '', rows };
    const [userRow, itemRow, number] = last;
    return { cursor: encodeFeedbackCursor({ userRow, itemRow, type: number }), rows };
  }

  override async *walkItemFeedback(itemId: string, type?: string): AsyncGenerator<readonly Feedback[]> {
    await this.barrier.pass();
    const itemRow = this.local.itemRow(itemId);
    if (itemRow < 0) return;
    const userRows = await this.getItemUsers(itemRow);
    for (let at = 0; at < userRows.length; at += SLICE_RECORDS) {
      const rows = await this.look<FeedbackRow>(
        `${this.select()} WHERE f.item_row = $2 AND f.user_row = ANY($3::int4[]) AND ($1::text IS NULL OR t.name = $1)
         ORDER BY f.user_row, ${TYPE}`,
        [type ?? null, itemRow, [...userRows.subarray(at, at + SLICE_RECORDS)]],
      );
      yield rows.map((row) => this.feedback(row));
    }
  }

  override async getItemUsers(itemRow: number): Promise<Uint32Array> {
    const [row] = await this.look<[Buffer | null]>(
      `SELECT string_agg(DISTINCT int4send(f.user_row), ''::bytea ORDER BY int4send(f.user_row))
       FROM ${this.s}.items i JOIN ${this.s}.feedback f USING (item_row) WHERE item_row = $1`,
      [itemRow],
    );
    const bytes = row![0] ?? Buffer.alloc(0);
    return Uint32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readUInt32BE(at * 4));
  }

  /** As the database counts it; by what was told of commits while that is away. */
  override async getStats(): Promise<StoreStats> {
    const { bytes, ...own } = await super.getStats();
    const query = `SELECT json_build_object('users', users, 'items', items, 'feedback', feedback) FROM ${this.s}.head`;
    const [counted] = await this.look<[typeof own]>(query, []).catch(() => []);
    return { ...own, ...counted?.[0], bytes };
  }

  override backup(): Promise<BackupStream> {
    return Promise.reject(
      new FurzeError(
        'INVALID_PARAMETER',
        'This server has no copy of the data: back PostgreSQL up with its own tools.',
      ),
    );
  }

  override async close(): Promise<void> {
    await super.close();
    this.endLoads();
  }

  protected override isKnown(user: string | number): boolean {
    return this.known.has(typeof user === 'number' ? user : this.local.userRow(user));
  }

  protected override loadUsers(users: readonly (string | number)[]): Promise<void> {
    const ticket = ++this.lastLoad;
    const userIds = users.filter((user) => typeof user === 'string');
    const userRows = users.filter((user) => typeof user === 'number');
    return new Promise((resolve, reject) => {
      this.loads.set(ticket, (known) => (known ? resolve() : reject(new Error('users could not be loaded'))));
      this.post({ kind: 'load', ticket, userIds, userRows });
    });
  }

  protected override noteKnown(forgotten: readonly number[], known: readonly number[]): void {
    for (const row of forgotten) this.known.delete(row);
    for (const row of known) this.known.add(row);
  }

  protected override noteLoaded({ tickets, known }: Loaded): void {
    for (const ticket of tickets) {
      this.loads.get(ticket)?.(known);
      this.loads.delete(ticket);
    }
  }

  /** Another writer knows nobody. */
  protected override noteDown(): void {
    this.known.clear();
    this.endLoads();
  }

  /** Has reads show a user. @throws FurzeError STORE_UNAVAILABLE where the user is not here and the database does not answer */
  private async bring(userId: string): Promise<void> {
    await this.barrier.pass([userId]);
    if (this.barrier.lacks(userId)) throw away();
  }

  private endLoads(): void {
    for (const tell of this.loads.values()) tell(undefined);
    this.loads.clear();
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
      throw isAway(error) ? away() : error;
    }
  }
}

function away(): FurzeError {
  return new FurzeError('STORE_UNAVAILABLE', 'The database does not answer at the moment.');
}
