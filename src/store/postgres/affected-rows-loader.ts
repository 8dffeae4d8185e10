import type { Item, User } from '../../domain/entities.ts';
import { decodeJournal } from '../journals.ts';
import { decodeOccurrences } from '../repeats.ts';
import { AffectedRows, type Entity, type HeadRow } from './affected-rows.ts';
import { isChain, REMOVED_AT_ONCE } from './commit-procedure.ts';
import type { Concern } from './concern.ts';
import type { Connection } from './connection.ts';
import { FeedbackTypeNumbers } from './feedback-type-numbers.ts';
import { timeMsOf, typeOf } from './packed-type-and-time.ts';
import { int4Array } from './sql-arrays.ts';
import { TypeNames } from './type-names.ts';

const TYPE = typeOf('f.type_time');

// Pairs are looked up one by one by their key, however many there are: no plan may read a whole table for them.
export const LOOK_UP = `BEGIN READ ONLY; SET LOCAL jit = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
  SET LOCAL enable_seqscan = off`;

const HEAD = 'position, mark, next_user_row, next_item_row, types_version, has_notes';

/** Rows that a group concerns, as they were read: of this head, or newer and then touched by a later commit. */
interface ReadRows {
  readonly head: HeadRow;
  readonly users: ReadonlyMap<string, Entity<User>>;
  readonly items: ReadonlyMap<string, Entity<Item>>;
  readonly journals: ReadonlyMap<string, string>;
  readonly feedback: readonly PairRow[];
}

/** Reads what groups concern, without a lock. */
export class AffectedRowsLoader {
  private readonly schema: string;
  private readonly types: TypeNames;
  /** True when any feedback has a comment or a value, as of the last group. */
  private hasNotes = true;

  /** @param schema as it stands in SQL */
  constructor(schema: string) {
    this.schema = schema;
    this.types = new TypeNames(schema);
  }

  /**
   * Reads what a group concerns: the head first, so that whatever of the rest is newer was touched by a later commit. All
   * queries are sent at once.
   */
  async load(connection: Connection, concern: Concern): Promise<ReadRows> {
    const pairs = concern.pairColumns;
    const sent = [
      connection.run(LOOK_UP),
      connection.rows<HeadRow>(`SELECT ${HEAD} FROM ${this.schema}.head`),
      this.loadEntities<User>(connection, 'user', concern.userIds, concern.readUserIds),
      this.loadEntities<Item>(connection, 'item', concern.itemIds, concern.readItemIds),
      this.loadPairs(connection, pairs, this.hasNotes),
      this.loadJournals(connection, concern.journals),
      this.loadFeedbackOf(connection, 'user', concern.goneUserIds),
      this.loadFeedbackOf(connection, 'item', concern.goneItemIds),
      connection.run('COMMIT'),
    ] as const;
    const [, heads, users, items, feedback, journals, ...gone] = await Promise.all(sent);
    const [head] = heads;
    const hasNotes = head![5];
    const lacksNotes = hasNotes && !this.hasNotes;
    this.hasNotes = hasNotes;
    const rows = lacksNotes ? await this.loadPairs(connection, pairs, true) : feedback;
    return { head: head!, users, items, journals, feedback: [...rows, ...gone[0], ...gone[1]] };
  }

  /** Reads again what commits have touched since it was read: a few of thousands of pairs, where many nodes write of the same users. */
  async loadAgain(connection: Connection, concern: Concern, before: ReadRows): Promise<ReadRows> {
    const s = this.schema;
    const [position, mark] = before.head;
    const [row] = await connection.rows<readonly [keys: number[] | null, ...HeadRow]>(
      `SELECT CASE WHEN ${isChain(s, '$1::bigint', '$2::bigint')} THEN ARRAY(SELECT unnest(c.touched) FROM ${s}.changes c
         WHERE c.position > $1 INTERSECT SELECT unnest($3::int4[])) END, ${HEAD} FROM ${s}.head h`,
      [position, mark, int4Array([...concern.keys([]).concerned])],
    );
    const [keys, ...head] = row!;
    const touched = keys === null ? undefined : concern.pairsTouchedBy(keys);
    if (touched === undefined) return this.load(connection, concern);
    // What is newer than this head was touched by a later commit, as above.
    const { feedback } = await this.load(connection, touched);
    const [userIds, itemIds] = touched.pairColumns;
    const keyOf = (userRow?: number, itemRow?: number) => `${userRow} ${itemRow}`;
    const rowsAt = (at: number) =>
      keyOf(before.users.get(userIds[at]!)?.row, before.items.get(itemIds[at]!)?.row);
    const read = new Set(userIds.map((_, at) => rowsAt(at)));
    const others = before.feedback.filter(([userRow, itemRow]) => !read.has(keyOf(userRow, itemRow)));
    return { ...before, head, feedback: [...others, ...feedback] };
  }

  /** State that was read, for commands to be carried out on. */
  async stateOf(
    connection: Connection,
    { head, users, items, journals, feedback }: ReadRows,
  ): Promise<AffectedRows> {
    const types = await this.types.of(connection, head[4]);
    const state = new AffectedRows(head, new FeedbackTypeNumbers(types));
    for (const [id, entity] of users) state.users.set(id, entity);
    for (const [id, entity] of items) state.items.set(id, entity);
    for (const [name, entries] of journals) state.journals.set(name, decodeJournal(entries));
    for (const [userRow, itemRow, type, timeMs, comment, value, events] of feedback) {
      const occurrences = events === null ? undefined : decodeOccurrences(events);
      const stored = { timeMs, comment: comment?.toString() ?? '', value: value ?? 0, occurrences };
      state.pairOf(userRow, itemRow).set(type, { stored, now: stored });
    }
    return state;
  }

  private async loadEntities<T>(
    connection: Connection,
    kind: 'user' | 'item',
    ids: ReadonlySet<string>,
    read: ReadonlySet<string>,
  ): Promise<Map<string, Entity<T>>> {
    if (ids.size === 0) return new Map();
    const rows = await connection.rows<[number, string, object | null]>(
      `SELECT ${kind}_row, ${kind}_id, CASE WHEN ${kind}_id = ANY($2::text[]) THEN detail END
       FROM ${this.schema}.${kind}s WHERE ${kind}_id = ANY($1::text[])`,
      [[...ids], [...read]],
    );
    const idField = kind === 'user' ? 'UserId' : 'ItemId';
    return new Map(
      rows.map(([row, id, detail]) => {
        const value = detail === null ? undefined : ({ [idField]: id, ...detail } as T);
        return [id, { row, value, isChanged: false }];
      }),
    );
  }

  private async loadJournals(
    connection: Connection,
    names: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, string>> {
    if (names.size === 0) return new Map();
    const query = `SELECT name, entries FROM ${this.schema}.journals WHERE name = ANY($1::text[])`;
    return new Map(await connection.rows<[string, string]>(query, [[...names]]));
  }

  /** The feedback of all pairs that the commands name, each by its whole key: without `OFFSET 0` a plan may go through all of a user's. */
  private async loadPairs(
    connection: Connection,
    [userIds, itemIds]: Concern['pairColumns'],
    withNotes: boolean,
  ): Promise<PairRow[]> {
    if (userIds.length === 0) return [];
    const { schema } = this;
    const from = `unnest($1::text[], $2::text[]) AS p (u, i)
       JOIN ${schema}.users u ON u.user_id = p.u JOIN ${schema}.items i ON i.item_id = p.i
       CROSS JOIN LATERAL (
         SELECT * FROM ${schema}.feedback WHERE user_row = u.user_row AND item_row = i.item_row OFFSET 0) f`;
    return connection.rows<PairRow>(this.feedbackOf(from, withNotes), [userIds, itemIds]);
  }

  /** Feedback that goes along with users or items, as much of each as is removed at once. */
  private async loadFeedbackOf(
    connection: Connection,
    kind: 'user' | 'item',
    ids: ReadonlySet<string>,
  ): Promise<PairRow[]> {
    if (ids.size === 0) return [];
    const { schema } = this;
    const from = `${schema}.${kind}s u CROSS JOIN LATERAL (
         SELECT * FROM ${schema}.feedback WHERE ${kind}_row = u.${kind}_row LIMIT ${REMOVED_AT_ONCE}) f`;
    const where = `WHERE u.${kind}_id = ANY($1::text[])`;
    return connection.rows<PairRow>(`${this.feedbackOf(from, true)} ${where}`, [[...ids]]);
  }

  private feedbackOf(from: string, withNotes: boolean): string {
    return `SELECT f.user_row, f.item_row, ${TYPE}, ${timeMsOf('f.type_time')}, ${withNotes ? 'n.comment, n.value, n.occurrences' : 'NULL, NULL, NULL'}
       FROM ${from}
       ${withNotes ? `LEFT JOIN ${this.schema}.notes n ON n.user_row = f.user_row AND n.item_row = f.item_row AND n.type = ${TYPE}` : ''}`;
  }
}

type PairRow = readonly [
  userRow: number,
  itemRow: number,
  type: number,
  timeMs: number,
  comment: Buffer | null,
  value: number | null,
  occurrences: Buffer | null,
];
