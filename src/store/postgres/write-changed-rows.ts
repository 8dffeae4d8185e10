import { type Commit, encodeParts } from '../commit-effects.ts';
import type { Connection } from './connection.ts';
import type { Entity, GroupState, Stored } from './load-affected-rows.ts';
import { packedArray, typeOf } from './packed-type-and-time.ts';
import { float8Array, int2Array, int4Array } from './sql-arrays.ts';

/** Feedback of a removed user or item that goes in the transaction of the removal; more is removed bit by bit afterwards. */
export const REMOVED_AT_ONCE = 4096;

/** What differs between a state and what is stored, sent as statements without waiting for one before the next. */
export class GroupStore {
  private readonly schema: string;
  private readonly connection: Connection;
  private readonly sent: Promise<unknown>[] = [];

  /** @param schema as it stands in SQL */
  constructor(connection: Connection, schema: string) {
    this.connection = connection;
    this.schema = schema;
  }

  /**
   * Stores what the group did and commits.
   * @throws Error when it was not committed, or when it is not known whether it was
   */
  async commit(state: GroupState, commit: Commit): Promise<void> {
    this.removeEntities('user', state.deletedUserRows);
    this.removeEntities('item', state.deletedItemRows);
    this.putEntities('user', changedOf(state.users), 'UserId');
    this.putEntities('item', changedOf(state.items), 'ItemId');
    this.putTypes(state);
    this.putFeedback(state);
    this.putHead(state, commit);
    const committed = this.connection.run('COMMIT');
    this.sent.push(committed);
    const outcomes = await Promise.allSettled(this.sent);
    const failed = outcomes.find((each) => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    if ((await committed) !== 'COMMIT') throw new Error('the transaction was rolled back');
  }

  private send(text: string, values: readonly unknown[]): void {
    this.sent.push(this.connection.run(text, values));
  }

  /** What the row had as feedback is out of reach at once, since rows are found by their ids alone. */
  private removeEntities(kind: 'user' | 'item', rows: readonly number[]): void {
    const { schema } = this;
    if (rows.length === 0) return;
    this.send(`DELETE FROM ${schema}.${kind}s WHERE ${kind}_row = ANY($1::int4[])`, [int4Array(rows)]);
    for (const row of rows) this.send(removalOf(schema, kind, true), [row]);
  }

  private putEntities<T extends object>(
    kind: 'user' | 'item',
    entities: readonly Entity<T>[],
    idField: string,
  ): void {
    if (entities.length === 0) return;
    const ids: string[] = [];
    const details: string[] = [];
    for (const { value } of entities) {
      const { [idField]: id, ...detail } = value as Record<string, unknown>;
      ids.push(id as string);
      details.push(JSON.stringify(detail));
    }
    this.send(
      `INSERT INTO ${this.schema}.${kind}s (${kind}_row, ${kind}_id, detail)
       SELECT r, i, d::json FROM unnest($1::int4[], $2::text[], $3::text[]) AS e (r, i, d)
       ON CONFLICT (${kind}_row) DO UPDATE SET detail = excluded.detail`,
      [int4Array(entities.map(({ row }) => row)), ids, details],
    );
  }

  private putTypes({ types: { fresh } }: GroupState): void {
    if (fresh.length === 0) return;
    this.send(
      `INSERT INTO ${this.schema}.types (type, name) SELECT * FROM unnest($1::int2[], $2::text[])
       ON CONFLICT (type) DO UPDATE SET name = excluded.name`,
      [int2Array(fresh.map(([type]) => type)), fresh.map(([, name]) => name)],
    );
  }

  private putFeedback(state: GroupState): void {
    const { schema } = this;
    const added = new Triples();
    const changed = new Triples();
    const changedFrom = new Triples();
    const removed = new Triples();
    const noted = new Triples();
    const unnoted = new Triples();
    for (const [userRow, items] of state.pairs) {
      for (const [itemRow, pair] of items) {
        for (const [type, { stored, now }] of pair) {
          if (stored === now) continue;
          const add = (to: Triples, record: Stored) => to.add(userRow, itemRow, type, record);
          if (stored === undefined) add(added, now!);
          else if (now === undefined) add(removed, stored);
          else if (now.timeMs !== stored.timeMs) {
            add(changed, now);
            add(changedFrom, stored);
          }
          if (now !== undefined && hasNote(now)) add(noted, now);
          else if (stored !== undefined && hasNote(stored)) add(unnoted, stored);
        }
      }
    }
    if (removed.length > 0)
      this.send(
        `DELETE FROM ${schema}.feedback f USING unnest($1::int4[], $2::int4[], $3::int8[]) AS d (u, i, t)
         WHERE f.user_row = d.u AND f.item_row = d.i AND f.type_time = d.t`,
        [...removed.pairs, removed.packed],
      );
    if (changed.length > 0)
      this.send(
        `UPDATE ${schema}.feedback f SET type_time = d.now
         FROM unnest($1::int4[], $2::int4[], $3::int8[], $4::int8[]) AS d (u, i, stored, now)
         WHERE f.user_row = d.u AND f.item_row = d.i AND f.type_time = d.stored`,
        [...changed.pairs, changedFrom.packed, changed.packed],
      );
    if (added.length > 0)
      this.send(
        `INSERT INTO ${schema}.feedback (user_row, item_row, type_time)
         SELECT * FROM unnest($1::int4[], $2::int4[], $3::int8[])`,
        [...added.pairs, added.packed],
      );
    this.putNotes(state, noted, unnoted);
  }

  private putNotes(state: GroupState, noted: Triples, unnoted: Triples): void {
    const { schema } = this;
    if (unnoted.length > 0)
      this.send(
        `DELETE FROM ${schema}.notes n USING unnest($1::int4[], $2::int4[], $3::int2[]) AS d (u, i, t)
         WHERE n.user_row = d.u AND n.item_row = d.i AND n.type = d.t`,
        unnoted.keys,
      );
    if (noted.length === 0) return;
    state.hasNotes = true;
    this.send(
      `INSERT INTO ${schema}.notes (user_row, item_row, type, value, comment)
       SELECT u, i, t, v, c FROM unnest($1::int4[], $2::int4[], $3::int2[], $4::float8[], $5::bytea[]) AS n (u, i, t, v, c)
       ON CONFLICT (user_row, item_row, type) DO UPDATE SET value = excluded.value, comment = excluded.comment`,
      [
        ...noted.keys,
        float8Array(noted.records.map(({ value }) => value)),
        noted.records.map(({ comment }) => Buffer.from(comment)),
      ],
    );
  }

  private putHead(state: GroupState, { position, mark, markBefore, parts }: Commit): void {
    const { schema } = this;
    const typesChanged = state.types.fresh.length > 0 ? 1 : 0;
    const body = Buffer.from(encodeParts(parts));
    this.send(`INSERT INTO ${schema}.changes (position, mark, mark_before, body) VALUES ($1, $2, $3, $4)`, [
      position,
      mark,
      markBefore,
      body,
    ]);
    this.send(
      `UPDATE ${schema}.head SET position = $1, mark = $2, next_user_row = $3, next_item_row = $4,
       types_version = types_version + $5, has_notes = $6`,
      [position, mark, state.nextUserRow, state.nextItemRow, typesChanged, state.hasNotes],
    );
  }
}

/**
 * Removes feedback of a row that is gone, as much as is done at once, with what there is to know of it.
 * @param notesRest whether to note that there may be more of it
 */
export function removalOf(schema: string, kind: 'user' | 'item', notesRest: boolean): string {
  const column = `${kind}_row`;
  const isUser = kind === 'user';
  return `WITH part AS MATERIALIZED (
      SELECT user_row, item_row, type_time FROM ${schema}.feedback WHERE ${column} = $1::int4 LIMIT ${REMOVED_AT_ONCE}),
    gone AS (DELETE FROM ${schema}.feedback f USING part p
      WHERE f.user_row = p.user_row AND f.item_row = p.item_row AND f.type_time = p.type_time),
    notes AS (DELETE FROM ${schema}.notes n USING part p
      WHERE n.user_row = p.user_row AND n.item_row = p.item_row AND n.type = ${typeOf('p.type_time')})
    ${
      notesRest
        ? `INSERT INTO ${schema}.removals (row, is_user)
           SELECT $1::int4, ${isUser} WHERE (SELECT count(*) FROM part) = ${REMOVED_AT_ONCE} ON CONFLICT DO NOTHING`
        : `DELETE FROM ${schema}.removals
           WHERE row = $1::int4 AND is_user = ${isUser} AND (SELECT count(*) FROM part) < ${REMOVED_AT_ONCE}`
    }`;
}

/** Triples as columns, and what is stored for each. */
class Triples {
  readonly records: Stored[] = [];
  private readonly userRows: number[] = [];
  private readonly itemRows: number[] = [];
  private readonly types: number[] = [];

  get length(): number {
    return this.records.length;
  }

  get pairs(): Buffer[] {
    return [int4Array(this.userRows), int4Array(this.itemRows)];
  }

  get keys(): Buffer[] {
    return [...this.pairs, int2Array(this.types)];
  }

  /** Types and times. */
  get packed(): Buffer {
    return packedArray(
      this.types,
      this.records.map(({ timeMs }) => timeMs),
    );
  }

  add(userRow: number, itemRow: number, type: number, record: Stored): void {
    this.userRows.push(userRow);
    this.itemRows.push(itemRow);
    this.types.push(type);
    this.records.push(record);
  }
}

function changedOf<T>(entities: ReadonlyMap<string, Entity<T>>): Entity<T>[] {
  return [...entities.values()].filter(({ isChanged }) => isChanged);
}

function hasNote({ comment, value }: Stored): boolean {
  return comment !== '' || value !== 0;
}
