import type { Item, User } from '../../domain/entities.ts';
import { decodeJournal } from '../journals.ts';
import { unpackTimeMs, unpackType } from '../lmdb/format/record-layout.ts';
import type { StoredFeedback } from '../repeats.ts';
import { AffectedRows, type Entity, type HeadRow, type ReadEntities, vectorKey } from './affected-rows.ts';
import { isChain, REMOVED_AT_ONCE } from './commit-procedure.ts';
import type { Concern } from './concern.ts';
import type { Connection } from './connection.ts';
import { FeedbackTypeNumbers } from './feedback-type-numbers.ts';
import { typeOf } from './packed-type-and-time.ts';
import { int4Array, int4s, int8Words } from './sql-arrays.ts';
import { TypeNames } from './type-names.ts';
import { type NoteRow, noteOf, storedNote } from './user-queries.ts';

const HEAD = 'position, mark, next_user_row, next_item_row, types_version';

/** Rows that a group concerns, as they were read: of this head, or newer and then touched by a later commit. */
export interface ReadRows extends ReadEntities {
  readonly journals: readonly (readonly [name: string, entries: string])[];
  readonly feedback: readonly PairRow[];
  /** Vectors to be removed that are there. */
  readonly vectors: readonly VectorRow[];
}

type VectorRow = readonly [itemRow: number, space: string];

export type PairRow = readonly [
  userRow: number,
  itemRow: number,
  type: number,
  timeMs: number,
  note: Omit<StoredFeedback, 'timeMs'> | undefined,
];

/** The answer of the function that reads. */
type GroupRow = readonly [
  ...HeadRow,
  userRows: Buffer | null,
  itemRows: Buffer | null,
  users: Readonly<Record<string, object>> | null,
  items: Readonly<Record<string, object>> | null,
  foundUsers: Buffer | null,
  foundItems: Buffer | null,
  found: Buffer | null,
  notes: readonly (readonly [userRow: number, ...NoteRow])[] | null,
  journals: readonly (readonly [string, string])[] | null,
  vectors: readonly VectorRow[] | null,
];

/**
 * SQL of the function that reads what a group concerns. It is one of the server's own, so that its plans are made once a connection;
 * what few groups need is asked for apart, since a part of a query costs as much where it finds nothing.
 */
export function groupFunctionOf(s: string): string {
  // Looked up one by one by their key, however many there are: no plan may read a whole table for them.
  const rows = (kind: string) => `ARRAY(SELECT coalesce(e.${kind}_row, -1)
        FROM unnest(${kind}_ids) WITH ORDINALITY n (id, at) LEFT JOIN ${s}.${kind}s e ON e.${kind}_id = n.id ORDER BY n.at)`;
  const details = (kind: string) => `IF cardinality(read_${kind}s) > 0 THEN
        ${kind}_details := (SELECT json_object_agg(e.${kind}_id, e.detail) FROM ${s}.${kind}s e WHERE e.${kind}_id = ANY(read_${kind}s));
      END IF;`;
  const found = (before: string) =>
    ['user_row', 'item_row', 'type_time'].map((name, at) => `${before && `f${at} || `}array_agg(f.${name})`);
  // Goes along with its user or item, as much of each as is removed at once.
  const along = (kind: string) => `IF cardinality(gone_${kind}s) > 0 THEN
        SELECT ${found('before')} INTO f0, f1, f2 FROM ${s}.${kind}s e CROSS JOIN LATERAL (
          SELECT * FROM ${s}.feedback WHERE ${kind}_row = e.${kind}_row LIMIT ${REMOVED_AT_ONCE}) f WHERE e.${kind}_id = ANY(gone_${kind}s);
      END IF;`;
  return `
    CREATE OR REPLACE FUNCTION ${s}.read_group(user_ids text[], item_ids text[], pair_users integer[], pair_items integer[],
      read_users text[], read_items text[], gone_users text[], gone_items text[], journal_names text[],
      vector_items text[], vector_spaces text[],
      OUT head_position bigint, OUT head_mark bigint, OUT next_user integer, OUT next_item integer, OUT types integer,
      OUT user_rows bytea, OUT item_rows bytea, OUT user_details json, OUT item_details json,
      OUT found_users bytea, OUT found_items bytea, OUT found_times bytea, OUT found_notes json, OUT journal_entries json, OUT found_vectors json)
    LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $function$
    #variable_conflict use_column
    DECLARE
      u integer[] := ${rows('user')};
      i integer[] := ${rows('item')};
      f0 integer[];
      f1 integer[];
      f2 bigint[];
      noted boolean;
    BEGIN
      SELECT ${HEAD}, has_notes INTO head_position, head_mark, next_user, next_item, types, noted FROM ${s}.head;
      IF cardinality(pair_users) > 0 THEN
        -- Each by its whole key: without OFFSET 0 a plan may go through all of a user's.
        SELECT ${found('')} INTO f0, f1, f2 FROM unnest(pair_users, pair_items) p (u_at, i_at) CROSS JOIN LATERAL (
          SELECT * FROM ${s}.feedback WHERE user_row = u[p.u_at] AND item_row = i[p.i_at] OFFSET 0) f
        WHERE u[p.u_at] >= 0 AND i[p.i_at] >= 0;
      END IF;
      ${along('user')}
      ${along('item')}
      IF noted THEN
        found_notes := (SELECT json_agg(json_build_array(f.u, ${noteOf('n')})) FROM unnest(f0, f1, f2) f (u, i, t)
          JOIN ${s}.notes n ON n.user_row = f.u AND n.item_row = f.i AND n.type = ${typeOf('f.t')});
      END IF;
      ${details('user')}
      ${details('item')}
      IF cardinality(journal_names) > 0 THEN
        journal_entries := (SELECT json_agg(json_build_array(j.name, j.entries)) FROM ${s}.journals j WHERE j.name = ANY(journal_names));
      END IF;
      IF cardinality(vector_items) > 0 THEN
        found_vectors := (SELECT json_agg(json_build_array(v.item_row, v.space)) FROM unnest(vector_items, vector_spaces) d (id, name)
          JOIN ${s}.items e ON e.item_id = d.id JOIN ${s}.vectors v ON v.item_row = e.item_row AND v.space = d.name);
      END IF;
      user_rows := array_send(u);
      item_rows := array_send(i);
      found_users := array_send(f0);
      found_items := array_send(f1);
      found_times := array_send(f2);
    END $function$;`;
}

/** Reads what groups concern, without a lock. */
export class AffectedRowsLoader {
  private readonly schema: string;
  readonly types: TypeNames;

  /** @param schema as it stands in SQL */
  constructor(schema: string) {
    this.schema = schema;
    this.types = new TypeNames(schema);
  }

  /** Reads what a group concerns, as of one moment. */
  async load(connection: Connection, concern: Concern): Promise<ReadRows> {
    const userIds = [...concern.userIds];
    const itemIds = [...concern.itemIds];
    const places = concern.pairPlaces.map(int4Array);
    const read = [concern.readUserIds, concern.readItemIds, concern.goneUserIds, concern.goneItemIds];
    const { goneVectors } = concern;
    const vectorColumns = [goneVectors.map(([itemId]) => itemId), goneVectors.map(([, space]) => space)];
    const given = [...read, concern.journals, ...vectorColumns].map((names) => [...names]);
    const [row] = await connection.rows<GroupRow>(
      `SELECT * FROM ${this.schema}.read_group($1, $2, $3::int4[], $4::int4[], $5, $6, $7, $8, $9, $10, $11)`,
      [userIds, itemIds, ...places, ...given],
    );
    const [position, mark, nextUserRow, nextItemRow, typesVersion, ...rest] = row!;
    const [userRows, itemRows, users, items, foundUsers, foundItems, found, notes, journals, vectors] = rest;
    return {
      head: [position, mark, nextUserRow, nextItemRow, typesVersion],
      users: entitiesOf<User>('UserId', userIds, int4s(userRows), users),
      items: entitiesOf<Item>('ItemId', itemIds, int4s(itemRows), items),
      journals: journals ?? [],
      vectors: vectors ?? [],
      feedback: pairRows(int4s(foundUsers), int4s(foundItems), int8Words(found), notes ?? []),
    };
  }

  /** Reads again what commits have touched since it was read: a few of thousands of pairs, where many nodes write of the same users. */
  async loadAgain(connection: Connection, concern: Concern, before: ReadRows): Promise<ReadRows> {
    const s = this.schema;
    const [position, mark] = before.head;
    const [row] = await connection.rows<readonly [keys: number[] | null, ...HeadRow]>(
      `SELECT CASE WHEN ${isChain(s, '$1::bigint', '$2::bigint')} THEN ARRAY(SELECT unnest(c.touched) FROM ${s}.changes c
         WHERE c.position > $1 INTERSECT SELECT unnest($3::int4[])) END, ${HEAD} FROM ${s}.head h`,
      [position, mark, int4Array(concern.keys([]).concerned)],
    );
    const [keys, ...head] = row!;
    const touched = keys === null ? undefined : concern.pairsTouchedBy(keys);
    if (touched === undefined) return this.load(connection, concern);
    // What is newer than this head was touched by a later commit, as above.
    const { feedback } = await this.load(connection, touched);
    const keyOf = (userRow?: number, itemRow?: number) => `${userRow} ${itemRow}`;
    const read = new Set(
      Array.from(touched.keyedPairs(), ([, userId, itemId]) =>
        keyOf(before.users.get(userId)?.row, before.items.get(itemId)?.row),
      ),
    );
    const others = before.feedback.filter(([userRow, itemRow]) => !read.has(keyOf(userRow, itemRow)));
    return { ...before, head, feedback: [...others, ...feedback] };
  }

  /** State that was read, for commands to be carried out on. */
  async stateOf(connection: Connection, read: ReadRows): Promise<AffectedRows> {
    const types = await this.types.of(connection, read.head[4]);
    const state = new AffectedRows(read, new FeedbackTypeNumbers(types));
    const { journals, vectors, feedback } = read;
    for (const [name, entries] of journals) state.journals.set(name, decodeJournal(entries));
    for (const [itemRow, space] of vectors) state.storedVectors.add(vectorKey(itemRow, space));
    for (const [userRow, itemRow, type, timeMs, note] of feedback) {
      const { comment = '', value = 0, occurrences } = note ?? {};
      const stored = { timeMs, comment, value, occurrences };
      state.pairOf(userRow, itemRow).set(type, { stored, now: stored });
    }
    return state;
  }
}

function entitiesOf<T>(
  idField: string,
  ids: readonly string[],
  rows: ArrayLike<number>,
  details: Readonly<Record<string, object>> | null,
): Map<string, Entity<T>> {
  const found = new Map<string, Entity<T>>();
  const known = new Map(Object.entries(details ?? {}));
  for (const [at, id] of ids.entries()) {
    const detail = known.get(id);
    const value = detail && ({ [idField]: id, ...detail } as T);
    if (rows[at]! >= 0) found.set(id, { row: rows[at]!, value, isChanged: false });
  }
  return found;
}

function pairRows(
  userRows: ArrayLike<number>,
  itemRows: ArrayLike<number>,
  words: ArrayLike<number>,
  notes: readonly (readonly [number, ...NoteRow])[],
): PairRow[] {
  const noted = new Map(
    notes.map(([userRow, ...note]) => [`${userRow} ${note[0]} ${note[1]}`, storedNote(note)]),
  );
  return Array.from(userRows, (userRow, at) => {
    const [high, low] = [words[at * 2]! >>> 0, words[at * 2 + 1]! >>> 0];
    const type = unpackType(high);
    const note = noted.size === 0 ? undefined : noted.get(`${userRow} ${itemRows[at]} ${type}`);
    return [userRow, itemRows[at]!, type, unpackTimeMs(low, high), note];
  });
}
