import { typeOf } from './packed-type-and-time.ts';

/** Feedback of a removed user or item that goes in the transaction of the removal; more is removed bit by bit afterwards. */
export const REMOVED_AT_ONCE = 4096;

/** The parameters of the procedure that go in, in their order, with their types. */
export const COMMIT_PARAMETERS = {
  readPosition: 'bigint',
  readMark: 'bigint',
  readTypesVersion: 'integer',
  newMark: 'bigint',
  isDurable: 'boolean',
  concerned: 'integer[]',
  touched: 'integer[]',
  body: 'bytea',
  userBase: 'integer',
  itemBase: 'integer',
  newUsers: 'integer',
  newItems: 'integer',
  goneUsers: 'integer[]',
  goneItems: 'integer[]',
  userRows: 'integer[]',
  userIds: 'text[]',
  userDetails: 'text[]',
  itemRows: 'integer[]',
  itemIds: 'text[]',
  itemDetails: 'text[]',
  types: 'smallint[]',
  typeNames: 'text[]',
  goneTypes: 'smallint[]',
  // Feedback that is another now: packed types and times, 0 for none.
  feedbackUsers: 'integer[]',
  feedbackItems: 'integer[]',
  feedbackBefore: 'bigint[]',
  feedbackNow: 'bigint[]',
  removed: 'integer',
  changed: 'integer',
  added: 'integer',
  // Notes as they are now, without a comment where there is none any more.
  notedUsers: 'integer[]',
  notedItems: 'integer[]',
  notedTypes: 'smallint[]',
  notedValues: 'double precision[]',
  notedComments: 'bytea[]',
  notedOccurrences: 'bytea[]',
  journalNames: 'text[]',
  journals: 'text[]',
  // Vectors as they are now, null where there is none any more.
  vectorItems: 'integer[]',
  vectorSpaces: 'text[]',
  vectors: 'bytea[]',
} as const;

export type CommitParameters = Readonly<Record<keyof typeof COMMIT_PARAMETERS, unknown>>;

/** SQL that commits a group: see `commitProcedureOf`. @param s the schema as it stands in SQL */
export function commitCallOf(s: string): string {
  const given = Object.values(COMMIT_PARAMETERS).map((type, at) => `$${at + 1}::${type}`);
  return `CALL ${s}.commit_group(${given.join(', ')}, NULL, NULL, NULL, NULL)`;
}

/**
 * The turn of a group, all of it within the server: it waits for `head`, sees whether a commit since its client has read touched
 * what the group concerns, stores what the group changes, and commits. No client is waited for while `head` is locked, so one
 * that stands still holds up nobody. A group that read what is old by now changes nothing, and its answer is null.
 *
 * New rows are numbered from the bases that the client has read; numbers that others took meanwhile shift them.
 */
export function commitProcedureOf(s: string): string {
  const parameters = Object.entries(COMMIT_PARAMETERS).map(([name, type]) => `"${name}" ${type}`);
  const user = (row: string) => `${row} + CASE WHEN ${row} >= "userBase" THEN "userShift" ELSE 0 END`;
  const item = (row: string) => `${row} + CASE WHEN ${row} >= "itemBase" THEN "itemShift" ELSE 0 END`;
  return `
    CREATE OR REPLACE PROCEDURE ${s}.commit_group(${parameters.join(', ')},
      INOUT "committed" bigint, INOUT "markBefore" bigint, INOUT "userShift" integer, INOUT "itemShift" integer)
    LANGUAGE plpgsql AS $procedure$
    #variable_conflict use_variable
    DECLARE
      h record;
      gone integer;
      part_count integer;
      gone_count integer := 0;
    BEGIN
      -- Plans that do not go by values are made once a connection: those that do are made anew for each group, which takes longer than it.
      PERFORM set_config('plan_cache_mode', 'force_generic_plan', true), set_config('jit', 'off', true),
        set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('enable_seqscan', 'off', true),
        set_config('synchronous_commit', CASE WHEN "isDurable" THEN 'on' ELSE 'off' END, true);
      SELECT position, mark, next_user_row, next_item_row, types_version INTO h FROM ${s}.head FOR UPDATE;
      IF ${isOld(s)} THEN
        ROLLBACK;
        RETURN;
      END IF;
      "committed" := h.position + 1;
      "markBefore" := h.mark;
      "userShift" := h.next_user_row - "userBase";
      "itemShift" := h.next_item_row - "itemBase";
      ${removals(s, 'user', '"goneUsers"')}
      ${removals(s, 'item', '"goneItems"')}
      ${upsert(s, 'user', user('r'))}
      ${upsert(s, 'item', item('r'))}
      ${types(s)}
      ${feedback(s, user('u'), item('i'))}
      ${notes(s, user('u'), item('i'))}
      ${journals(s)}
      ${vectors(s, item('i'))}
      INSERT INTO ${s}.changes (position, mark, mark_before, at, touched, user_base, user_shift, item_base, item_shift, body)
        VALUES ("committed", "newMark", "markBefore", clock_timestamp(), "touched", "userBase", "userShift", "itemBase", "itemShift", "body");
      UPDATE ${s}.head SET position = "committed", mark = "newMark",
        next_user_row = h.next_user_row + "newUsers", next_item_row = h.next_item_row + "newItems",
        types_version = h.types_version + (cardinality("types") + cardinality("goneTypes") > 0)::integer,
        has_notes = has_notes OR cardinality("notedUsers") > 0,
        users = users - cardinality("goneUsers") + (SELECT count(*) FROM unnest("userRows") AS r WHERE r >= "userBase"),
        items = items - cardinality("goneItems") + (SELECT count(*) FROM unnest("itemRows") AS r WHERE r >= "itemBase"),
        feedback = feedback - gone_count - "removed" + "added";
      COMMIT;
    END $procedure$;`;
}

/**
 * True where what the client has read is not what there is: a commit since then touched it, or that is not known any more.
 * Keys are intersected as sets: a join of what the planner takes for ten keys each is a loop over millions of pairs.
 */
function isOld(s: string): string {
  return `(h.position <> "readPosition" OR h.mark <> "readMark") AND (
        h.types_version <> "readTypesVersion" OR NOT ${isChain(s, '"readPosition"', '"readMark"')}
        OR EXISTS (SELECT unnest(c.touched) FROM ${s}.changes c WHERE c.position > "readPosition"
                   INTERSECT SELECT unnest("concerned")))`;
}

/** SQL that is true where the commits from a point on to the head `h` are there, at least one. */
export function isChain(s: string, position: string, mark: string): string {
  return `(h.position > ${position}
        AND (SELECT count(*) FROM ${s}.changes c WHERE c.position > ${position}) = h.position - ${position}
        AND EXISTS (SELECT FROM ${s}.changes c WHERE c.position = ${position} + 1 AND c.mark_before = ${mark}))`;
}

function removals(s: string, kind: 'user' | 'item', rows: string): string {
  return `IF cardinality(${rows}) > 0 THEN
        DELETE FROM ${s}.${kind}s t WHERE t.${kind}_row = ANY(${rows});
        ${kind === 'item' ? `DELETE FROM ${s}.vectors v WHERE v.item_row = ANY(${rows});` : ''}
        FOREACH gone IN ARRAY ${rows} LOOP
          ${removalOf(s, kind, 'gone', true)};
          gone_count := gone_count + part_count;
        END LOOP;
      END IF;`;
}

function upsert(s: string, kind: 'user' | 'item', row: string): string {
  return `IF cardinality("${kind}Rows") > 0 THEN
        INSERT INTO ${s}.${kind}s (${kind}_row, ${kind}_id, detail)
          SELECT ${row}, e.id, e.d::json FROM unnest("${kind}Rows", "${kind}Ids", "${kind}Details") AS e (r, id, d)
          ON CONFLICT (${kind}_row) DO UPDATE SET detail = excluded.detail;
      END IF;`;
}

function types(s: string): string {
  return `IF cardinality("goneTypes") > 0 THEN
        DELETE FROM ${s}.types t WHERE t.type = ANY("goneTypes");
      END IF;
      IF cardinality("types") > 0 THEN
        INSERT INTO ${s}.types (type, name) SELECT * FROM unnest("types", "typeNames")
          ON CONFLICT (type) DO UPDATE SET name = excluded.name;
      END IF;`;
}

function feedback(s: string, user: string, item: string): string {
  const given =
    'unnest("feedbackUsers", "feedbackItems", "feedbackBefore", "feedbackNow") AS d (u, i, stored, now)';
  const isStored = 'f.user_row = d.u AND f.item_row = d.i AND f.type_time = d.stored';
  return `IF "removed" > 0 THEN
        DELETE FROM ${s}.feedback f USING ${given} WHERE d.now = 0 AND ${isStored};
      END IF;
      IF "changed" > 0 THEN
        UPDATE ${s}.feedback f SET type_time = d.now FROM ${given} WHERE d.now <> 0 AND d.stored <> 0 AND ${isStored};
      END IF;
      IF "added" > 0 THEN
        INSERT INTO ${s}.feedback (user_row, item_row, type_time) SELECT ${user}, ${item}, now FROM ${given} WHERE stored = 0;
      END IF;`;
}

function notes(s: string, user: string, item: string): string {
  return `IF cardinality("notedUsers") > 0 THEN
        DELETE FROM ${s}.notes n USING unnest("notedUsers", "notedItems", "notedTypes", "notedComments") AS d (u, i, t, c)
          WHERE d.c IS NULL AND n.user_row = d.u AND n.item_row = d.i AND n.type = d.t;
        INSERT INTO ${s}.notes (user_row, item_row, type, value, comment, occurrences)
          SELECT ${user}, ${item}, t, v, c, o
          FROM unnest("notedUsers", "notedItems", "notedTypes", "notedValues", "notedComments", "notedOccurrences")
            AS n (u, i, t, v, c, o) WHERE c IS NOT NULL
          ON CONFLICT (user_row, item_row, type) DO UPDATE SET value = excluded.value, comment = excluded.comment,
            occurrences = excluded.occurrences;
      END IF;`;
}

function journals(s: string): string {
  return `IF cardinality("journalNames") > 0 THEN
        INSERT INTO ${s}.journals (name, entries) SELECT * FROM unnest("journalNames", "journals")
          ON CONFLICT (name) DO UPDATE SET entries = excluded.entries;
        DELETE FROM ${s}.journals WHERE name = ANY("journalNames") AND entries = '[]';
      END IF;`;
}

function vectors(s: string, item: string): string {
  const given = 'unnest("vectorItems", "vectorSpaces", "vectors") AS d (i, space, numbers)';
  return `IF cardinality("vectorItems") > 0 THEN
        DELETE FROM ${s}.vectors v USING ${given} WHERE d.numbers IS NULL AND v.item_row = d.i AND v.space = d.space;
        INSERT INTO ${s}.vectors (item_row, space, numbers) SELECT ${item}, space, numbers FROM ${given} WHERE numbers IS NOT NULL
          ON CONFLICT (item_row, space) DO UPDATE SET numbers = excluded.numbers;
      END IF;`;
}

/**
 * Removes feedback of a row that is gone, as much as is done at once, with what there is to know of it.
 * @param row SQL of the row
 * @param isFirst whether this is within the procedure: to note that there may be more of it, and to tell in `part_count` how much went
 */
export function removalOf(s: string, kind: 'user' | 'item', row: string, isFirst: boolean): string {
  const isUser = kind === 'user';
  return `WITH part AS MATERIALIZED (
      SELECT f.user_row, f.item_row, f.type_time FROM ${s}.feedback f WHERE f.${kind}_row = ${row} LIMIT ${REMOVED_AT_ONCE}),
    gone_feedback AS (DELETE FROM ${s}.feedback f USING part p
      WHERE f.user_row = p.user_row AND f.item_row = p.item_row AND f.type_time = p.type_time),
    gone_notes AS (DELETE FROM ${s}.notes n USING part p
      WHERE n.user_row = p.user_row AND n.item_row = p.item_row AND n.type = ${typeOf('p.type_time')}),
    ${
      isFirst
        ? `rest AS (INSERT INTO ${s}.removals (row, is_user)
           SELECT ${row}, ${isUser} WHERE (SELECT count(*) FROM part) = ${REMOVED_AT_ONCE} ON CONFLICT DO NOTHING)
           SELECT count(*) INTO part_count FROM part`
        : `rest AS (DELETE FROM ${s}.removals r
           WHERE r.row = ${row} AND r.is_user = ${isUser} AND (SELECT count(*) FROM part) < ${REMOVED_AT_ONCE})
           UPDATE ${s}.head SET feedback = feedback - (SELECT count(*) FROM part)`
    }`;
}
